import { cellEnd, cellStart, decodeCell, hashCells, lineAt } from './table-bytes.ts';
import { type Gaps, lineEnd } from './table-scan.ts';

/** The position of a row in the source, without its line ending. */
export interface RowSource {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/**
 * A table as its exact bytes and the start of each row. Cells are located and decoded on demand, so a million rows
 * cost four bytes each on top of the file. Immutable: an edit returns a new table, which shares the bytes of all
 * untouched rows.
 */
export class Table {
  readonly header: readonly string[];
  /** The bytes as read; rows in `edited` are outdated here. */
  readonly base: Buffer;
  /** The start of the header and of each row in `base`, and the end. */
  readonly starts: Uint32Array;
  /** The sources of edited rows, without line endings. */
  readonly edited: ReadonlyMap<number, Buffer>;
  readonly gaps: Gaps;

  /** Only for bytes that were scanned, or produced by an edit. */
  constructor(
    base: Buffer,
    header: readonly string[],
    starts: Uint32Array,
    gaps: Gaps = new Map(),
    edited: ReadonlyMap<number, Buffer> = new Map(),
  ) {
    this.base = base;
    this.header = header;
    this.starts = starts;
    this.gaps = gaps;
    this.edited = edited;
  }

  /** Without the header. */
  get rowCount(): number {
    return this.starts.length - 2;
  }

  /** The file in pieces that share memory with the table. */
  pieces(): Buffer[] {
    const pieces: Buffer[] = [];
    let at = 0;
    for (const [row, source] of [...this.edited].sort(([a], [b]) => a - b)) {
      const { start, end } = this.sourceInBase(row);
      pieces.push(this.base.subarray(at, start), source);
      at = end;
    }
    pieces.push(this.base.subarray(at));
    return pieces.filter(({ length }) => length > 0);
  }

  /** The whole file; a copy if rows were edited. */
  get bytes(): Buffer {
    return this.edited.size === 0 ? this.base : Buffer.concat(this.pieces());
  }

  /** -1 if there is none. */
  columnOf(name: string): number {
    return this.header.indexOf(name);
  }

  cell(row: number, column: number): string {
    if (!(column in this.header)) throw new RangeError(`There is no column ${column} in the table.`);
    const { bytes, start, end } = this.source(row);
    const at = cellStart(bytes, start, end, column);
    return decodeCell(bytes, at, cellEnd(bytes, at, end));
  }

  cells(row: number): string[] {
    const { bytes, start, end: limit } = this.source(row);
    const cells: string[] = [];
    for (let at = start; cells.length < this.header.length; ) {
      const end = cellEnd(bytes, at, limit);
      cells.push(decodeCell(bytes, at, end));
      at = end + 1;
    }
    return cells;
  }

  /** The source of the row without its line ending; shares memory with the table. */
  rowBytes(row: number): Buffer {
    const { bytes, start, end } = this.source(row);
    return bytes.subarray(start, end);
  }

  /** Equal for rows with the same text in the chosen columns, however it is quoted. Decodes nothing. */
  hash(row: number, isChosen: readonly boolean[]): number {
    const { bytes, start, end } = this.source(row);
    return hashCells(bytes, start, end, isChosen);
  }

  /**
   * Whether two rows have the same source, ignoring line endings. Copies nothing, because whole tables are compared.
   */
  sameRow(row: number, other: Table, otherRow: number): boolean {
    const ours = this.source(row);
    const theirs = other.source(otherRow);
    return ours.bytes.compare(theirs.bytes, theirs.start, theirs.end, ours.start, ours.end) === 0;
  }

  /** The 1-based line of the file in which the row starts; -1 for the header. Walks the rows above. */
  lineOf(row: number): number {
    let line = 1;
    for (let above = -1; above < row; above++) {
      const source = this.rowBytes(above);
      // Its own lines, its line ending, and the blank lines after it.
      const behind = this.base.subarray(this.sourceInBase(above).end, this.starts[above + 2]);
      line += lineAt(source, source.length) + lineAt(behind, behind.length) - 2;
    }
    return line;
  }

  /** -1 is the header. */
  source(row: number): RowSource {
    const bytes = this.edited.get(row);
    return bytes ? { bytes, start: 0, end: bytes.length } : this.sourceInBase(row);
  }

  sourceInBase(row: number): RowSource {
    const start = this.starts[row + 1];
    const next = this.starts[row + 2];
    if (start === undefined || next === undefined) throw new RangeError(`There is no row ${row} in the table.`);
    return { bytes: this.base, start, end: this.gaps.get(row) ?? lineEnd(this.base, next) };
  }
}
