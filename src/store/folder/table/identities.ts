import { describeMetadata, itemId } from '../../../core/model/identity.ts';
import { type IdentityBasis, NO_BASIS } from '../../../core/model/identity-basis.ts';
import type { Table } from '../../../formats/table.ts';

/**
 * The identities of the rows in one reading of the table (rule T7). An id stays with its row, even if its metadata is
 * edited later. Ids are computed only when asked for: a million rows rarely all need one.
 */
export class Identities {
  #table: Table;
  readonly #columns: readonly number[];
  readonly #names: readonly string[];
  readonly #basis: IdentityBasis;
  /** The columns that ids are derived from. */
  readonly #deriving: readonly number[];
  readonly #ids = new Map<number, string>();
  readonly #rows = new Map<string, number>();
  #ordinals: Uint32Array | undefined;

  /** `statusAndOutputs`: the columns that are not part of an item's identity. */
  constructor(
    table: Table,
    statusAndOutputs: ReadonlySet<string>,
    known: Iterable<[number, string]> = [],
    basis: IdentityBasis = NO_BASIS,
  ) {
    this.#table = table;
    this.#basis = basis;
    this.#columns = table.header.flatMap((name, column) => (statusAndOutputs.has(name) ? [] : [column]));
    this.#names = this.#columns.map((column) => table.header[column]!);
    const deriving = this.#columns.filter((column) => !basis.added.has(table.header[column]!));
    this.#deriving = deriving.length > 0 ? deriving : this.#columns;
    for (const [row, id] of known) this.#remember(row, id);
  }

  /** Moves to a newer table with the same rows. Releases the bytes of the older one. */
  rebase(table: Table): void {
    this.#table = table;
  }

  /** Whether a newer table has the same items in the same rows, as it has unless people edit them. */
  hasSameItems(table: Table): boolean {
    const before = this.#table;
    if (table.rowCount !== before.rowCount || table.header.length !== before.header.length) return false;
    if (table.header.some((name, column) => name !== before.header[column])) return false;
    for (let row = 0; row < table.rowCount; row++) {
      if (!table.sameRow(row, before, row) && this.#plain(row, table) !== this.#plain(row)) return false;
    }
    return true;
  }

  id(row: number): string {
    const known = this.#ids.get(row);
    if (known !== undefined) return known;
    const cells = this.#table.cells(row);
    const names = this.#deriving.map((column) => this.#table.header[column]!);
    const metadata = describeMetadata(
      names.map((name) => this.#basis.names.get(name) ?? name),
      this.#deriving.map((column) => cells[column]!),
    );
    const derive = (ordinal: number) => {
      const derived = itemId(metadata, ordinal);
      return this.#basis.kept.get(derived) ?? derived;
    };
    let ordinal = this.#ordinalOf(row);
    // A row whose metadata was edited keeps its old id; a new row with that old metadata must not get the same one.
    while (this.#rows.has(derive(ordinal))) ordinal++;
    const id = derive(ordinal);
    this.#remember(row, id);
    return id;
  }

  /** The row of a known id. */
  rowOf(id: string): number | undefined {
    return this.#rows.get(id);
  }

  known(): Iterable<[number, string]> {
    return this.#ids;
  }

  /** The metadata as one canonical text. With `names`: only these columns, under the given names. */
  describe(row: number, names?: ReadonlyMap<string, string>): string {
    const cells = this.#table.cells(row);
    const nameOf = (column: number) => this.#table.header[column]!;
    const columns = names ? this.#columns.filter((column) => names.has(nameOf(column))) : this.#columns;
    return describeMetadata(
      columns.map((column) => names?.get(nameOf(column)) ?? nameOf(column)),
      columns.map((column) => cells[column]!),
    );
  }

  get names(): readonly string[] {
    return this.#names;
  }

  #remember(row: number, id: string): void {
    this.#ids.set(row, id);
    this.#rows.set(id, row);
  }

  /** How many equal rows are above. Counted once for the whole table: row by row it would cost n². */
  #ordinalOf(row: number): number {
    this.#ordinals ??= this.#countOrdinals();
    return this.#ordinals[row]!;
  }

  /** Finds rows by hashes in flat arrays: a map of a million texts or numbers would be as large as the table. */
  #countOrdinals(): Uint32Array {
    const { rowCount } = this.#table;
    const ordinals = new Uint32Array(rowCount);
    const hashes = new Uint32Array(rowCount);
    // At most half full, so that a free slot is near. A slot holds the last of equal rows, counted from 1.
    const places = new Int32Array(2 ** Math.ceil(Math.log2(2 * rowCount + 1)));
    const isColumn = this.#table.header.map((_, column) => this.#deriving.includes(column));
    for (let row = 0; row < rowCount; row++) {
      const hash = this.#table.hash(row, isColumn);
      hashes[row] = hash;
      let place = hash % places.length;
      for (; places[place] !== 0; place = (place + 1) % places.length) {
        const above = places[place]! - 1;
        if (hashes[above] !== hash || this.#plain(above) !== this.#plain(row)) continue;
        ordinals[row] = ordinals[above]! + 1;
        break;
      }
      places[place] = row + 1;
    }
    return ordinals;
  }

  #plain(row: number, table = this.#table): string {
    const cells = table.cells(row);
    return this.#deriving.map((column) => cells[column]).join('\u0000');
  }
}
