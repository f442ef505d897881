import { cellEnd, decodeCell, lineAt } from './table-bytes.ts';
import { lineEnd } from './table-scan.ts';

/**
 * A table as its exact bytes and where its rows start. Cells are found and decoded when they are asked for, so that a
 * million rows cost four bytes each beside the file. Immutable: an edit gives a new one.
 */
export class Table {
  readonly bytes: Buffer;
  readonly header: readonly string[];
  /** Where the header and each row starts, and at last the end of the file. */
  readonly starts: Uint32Array;

  /** Only for bytes that were scanned, or made from such by an edit. */
  constructor(bytes: Buffer, header: readonly string[], starts: Uint32Array) {
    this.bytes = bytes;
    this.header = header;
    this.starts = starts;
  }

  /** Without the header. */
  get rowCount(): number {
    return this.starts.length - 2;
  }

  /** -1 if there is none. */
  columnOf(name: string): number {
    return this.header.indexOf(name);
  }

  cell(row: number, column: number): string {
    const start = this.cellStart(row, column);
    return decodeCell(this.bytes, start, cellEnd(this.bytes, start, this.rowEnd(row)));
  }

  cells(row: number): string[] {
    const limit = this.rowEnd(row);
    const cells: string[] = [];
    for (let at = this.rowStart(row); cells.length < this.header.length; ) {
      const end = cellEnd(this.bytes, at, limit);
      cells.push(decodeCell(this.bytes, at, end));
      at = end + 1;
    }
    return cells;
  }

  /** The source of the row without its line end; shares memory with the table. */
  rowBytes(row: number): Buffer {
    return this.bytes.subarray(this.rowStart(row), this.rowEnd(row));
  }

  /** Whether two rows have the same source, line ends aside. Allocates nothing: whole tables are compared with it. */
  sameRow(row: number, other: Table, otherRow: number): boolean {
    const start = this.rowStart(row);
    const otherStart = other.rowStart(otherRow);
    return this.bytes.compare(other.bytes, otherStart, other.rowEnd(otherRow), start, this.rowEnd(row)) === 0;
  }

  /** 1-based line of the file in which the row starts; -1 asks for the header. Walks the file. */
  lineOf(row: number): number {
    return lineAt(this.bytes, this.rowStart(row));
  }

  /** -1 is the header, in the methods for positions as well. */
  rowStart(row: number): number {
    const start = this.starts[row + 1];
    if (start === undefined || row >= this.rowCount) throw new RangeError(`There is no row ${row} in the table.`);
    return start;
  }

  rowEnd(row: number): number {
    const next = this.starts[row + 2];
    if (next === undefined) throw new RangeError(`There is no row ${row} in the table.`);
    return lineEnd(this.bytes, next);
  }

  cellStart(row: number, column: number): number {
    if (!(column in this.header)) throw new RangeError(`There is no column ${column} in the table.`);
    const limit = this.rowEnd(row);
    let at = this.rowStart(row);
    for (let skipped = 0; skipped < column; skipped++) at = cellEnd(this.bytes, at, limit) + 1;
    return at;
  }
}
