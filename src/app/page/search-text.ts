import type { Table } from '../../formats/table.ts';
import { cellEnd, decodeCell, QUOTE } from '../../formats/table-bytes.ts';

/** Between cells and rows: a search never has it. */
const GAP = 0;
const LEAST_BYTES = 64 * 1024;

/** Texts of a row besides its cells. */
type MoreTexts = (row: number) => readonly string[];

/**
 * What rows are searched for, in lower case: chosen cells, and more texts. It is one run of bytes, because to search in
 * a hundred thousand strings takes a hundred times as long. It can be made in parts, before a search needs it.
 */
export class SearchText {
  #bytes: Buffer;
  #length = 0;
  /** Where each row starts, and the end. */
  readonly #starts: Uint32Array;

  readonly #table: Table;
  readonly #isSearched: readonly boolean[];
  readonly #moreOf: MoreTexts;
  #rows = 0;

  /** `isSearched`: by column. */
  constructor(table: Table, isSearched: readonly boolean[], moreOf: MoreTexts) {
    this.#table = table;
    this.#isSearched = isSearched;
    this.#moreOf = moreOf;
    this.#bytes = Buffer.allocUnsafe(Math.max(LEAST_BYTES, table.base.length));
    this.#starts = new Uint32Array(table.rowCount + 1);
  }

  /** Takes up so many more rows; returns whether that was the last one. */
  extend(rows: number): boolean {
    const end = Math.min(this.#rows + rows, this.#table.rowCount);
    for (; this.#rows < end; this.#rows++) {
      this.#starts[this.#rows] = this.#length;
      this.#addCells(this.#rows);
      for (const text of this.#moreOf(this.#rows)) this.#addText(text);
      this.#lower(this.#starts[this.#rows]!);
    }
    this.#starts[end] = this.#length;
    return end === this.#table.rowCount;
  }

  /** Leaves only those rows marked that have the text. */
  filter(text: string, marks: Uint8Array): void {
    this.extend(Number.POSITIVE_INFINITY);
    const needle = Buffer.from(text.toLowerCase());
    if (needle.includes(GAP)) marks.fill(0);
    const bytes = this.#bytes.subarray(0, this.#length);
    const starts = this.#starts;
    let row = 0;
    for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, starts[row])) {
      const found = this.#rowAt(at, row);
      marks.fill(0, row, found);
      row = found + 1;
      if (row === marks.length) return;
    }
    marks.fill(0, row);
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

  #addCells(row: number): void {
    const { bytes, start, end: limit } = this.#table.source(row);
    this.#reserve(limit - start + this.#isSearched.length);
    let at = start;
    for (const isWanted of this.#isSearched) {
      const end = cellEnd(bytes, at, limit);
      if (isWanted && end > at) {
        if (bytes[at] === QUOTE) this.#length += this.#bytes.write(decodeCell(bytes, at, end), this.#length);
        else this.#length += bytes.copy(this.#bytes, this.#length, at, end);
        this.#bytes[this.#length++] = GAP;
      }
      at = end + 1;
    }
  }

  #addText(text: string): void {
    this.#reserve(3 * text.length + 1);
    this.#length += this.#bytes.write(text, this.#length);
    this.#bytes[this.#length++] = GAP;
  }

  /** From an offset on. Only a text with other letters than those of ASCII becomes a string. */
  #lower(from: number): void {
    const bytes = this.#bytes;
    for (let at = from; at < this.#length; at++) {
      const byte = bytes[at]!;
      if (byte >= 0x80) {
        const text = bytes.toString('utf8', from, this.#length).toLowerCase();
        this.#length = from;
        this.#reserve(3 * text.length);
        this.#length += this.#bytes.write(text, from);
        return;
      }
      if (byte >= 0x41 && byte <= 0x5a) bytes[at] = byte + 0x20;
    }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
