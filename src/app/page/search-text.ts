import type { Table } from '../../formats/table.ts';
import { COMMA, cellEnd, QUOTE } from '../../formats/table-bytes.ts';

/** After each cell: a search never has it. */
const GAP = 0;
const NOT_ASCII = 0x80;
/** The letters of ASCII; other bytes stay. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));

/**
 * The text of chosen columns, in lower case. It is one run of bytes, because to search in a hundred thousand strings
 * takes a hundred times as long. It can be made in parts, before a search needs it, and takes no memory until then.
 */
export class SearchText {
  #bytes = Buffer.alloc(0);
  #length = 0;
  /** Where each row starts, and the end. */
  #starts = new Uint32Array(0);

  readonly #table: Table;
  readonly #isSearched: readonly boolean[];
  #rows = 0;
  /** That any byte of the current row has: without the highest one, all of it is ASCII. */
  #bits = 0;

  /** `isSearched`: by column. */
  constructor(table: Table, isSearched: readonly boolean[]) {
    this.#table = table;
    this.#isSearched = isSearched;
  }

  /** Takes up so many more rows; returns whether that was the last one. */
  extend(rows: number): boolean {
    const { rowCount } = this.#table;
    if (this.#starts.length === 0) this.#starts = new Uint32Array(rowCount + 1);
    const end = Math.min(this.#rows + rows, rowCount);
    for (; this.#rows < end; this.#rows++) {
      this.#starts[this.#rows] = this.#length;
      this.#addRow(this.#rows);
      if (this.#bits >= NOT_ASCII) this.#lower(this.#starts[this.#rows]!);
    }
    this.#starts[end] = this.#length;
    return end === rowCount;
  }

  /** 1 for each row that has the text. */
  find(text: string): Uint8Array {
    this.extend(Number.POSITIVE_INFINITY);
    const marks = new Uint8Array(this.#table.rowCount);
    const needle = Buffer.from(text.toLowerCase());
    if (needle.includes(GAP)) return marks;
    const bytes = this.#bytes.subarray(0, this.#length);
    const starts = this.#starts;
    for (let at = bytes.indexOf(needle), row = 0; at !== -1 && row < marks.length; row++) {
      row = this.#rowAt(at, row);
      marks[row] = 1;
      at = bytes.indexOf(needle, starts[row + 1]);
    }
    return marks;
  }

  #rowAt(offset: number, atLeast: number): number {
    let low = atLeast;
    let high = this.#starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  #addRow(row: number): void {
    const { bytes, start, end: limit } = this.#table.source(row);
    this.#reserve(limit - start + this.#isSearched.length);
    this.#bits = 0;
    let at = start;
    for (const isWanted of this.#isSearched) {
      at = 1 + (isWanted ? this.#addCell(bytes, at, limit) : cellEnd(bytes, at, limit));
    }
  }

  /** In one pass over its bytes, whether it is quoted or not. Returns where it ends. */
  #addCell(bytes: Buffer, start: number, limit: number): number {
    const target = this.#bytes;
    let [at, length, bits] = [start, this.#length, this.#bits];
    if (at < limit && bytes[at] === QUOTE) {
      for (at++; at < limit; at++) {
        const byte = bytes[at]!;
        if (byte === QUOTE && bytes[++at] !== QUOTE) break;
        target[length++] = LOWER[byte]!;
        bits |= byte;
      }
    } else {
      for (; at < limit; at++) {
        const byte = bytes[at]!;
        if (byte === COMMA) break;
        target[length++] = LOWER[byte]!;
        bits |= byte;
      }
    }
    target[length++] = GAP;
    this.#length = length;
    this.#bits = bits;
    return at;
  }

  /** From an offset on: letters that are not those of ASCII. */
  #lower(from: number): void {
    const text = this.#bytes.toString('utf8', from, this.#length).toLowerCase();
    this.#length = from;
    this.#reserve(3 * text.length);
    this.#length += this.#bytes.write(text, from);
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#table.base.length, 2 * (this.#length + more)));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
