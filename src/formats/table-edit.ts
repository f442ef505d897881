import { NightshiftError } from '../core/errors.ts';
import { cellEnd, checkTableSize, decodeCell, encodeCell, QUOTE } from './table-bytes.ts';
import { Table } from './table-rows.ts';

/** Edits touch only their own bytes (rule F5) and never scan the table again: a status costs one copy of the file. */

export interface CellChange {
  readonly row: number;
  readonly column: number;
  readonly value: string;
}

interface NewColumn {
  readonly name: string;
  /** For every row that is there. */
  readonly value: string;
}

interface Splice {
  /** -1: the header. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** Of several changes of one cell the last counts. A cell that has its value already keeps its source. */
export function editCells(table: Table, changes: readonly CellChange[]): Table {
  const width = table.header.length;
  const last = new Map(changes.map((change) => [change.row * width + change.column, change]));
  const splices: Splice[] = [];
  for (const [, change] of [...last].sort(([a], [b]) => a - b)) {
    const splice = replaceCell(table, change);
    if (splice) splices.push(splice);
  }
  const growth = splices.reduce((sum, { start, end, bytes }) => sum + bytes.length - (end - start), 0);
  return splices.length === 0 ? table : rewrite(table, table.header, splices, growth);
}

function replaceCell(table: Table, { row, column, value }: CellChange): Splice | undefined {
  if (row < 0) throw new RangeError('The header is not edited cell by cell.');
  const start = table.cellStart(row, column);
  const end = cellEnd(table.bytes, start, table.rowEnd(row));
  if (decodeCell(table.bytes, start, end) === value) return undefined;
  // How a cell is quoted is the choice of whoever wrote it.
  const style = { quoted: start < end && table.bytes[start] === QUOTE, alone: table.header.length === 1 };
  return { row, start, end, bytes: Buffer.from(encodeCell(value, table.header[column]!, style)) };
}

/** Appends columns to the header and to every row. */
export function addColumns(table: Table, columns: readonly NewColumn[]): Table {
  const names = new Set(table.header);
  for (const { name } of columns) {
    if (name.trim() === '') throw new NightshiftError('bad-table', 'a column needs a name', 'give it one');
    if (names.has(name)) {
      const hint = 'choose another name, or rename the column that is there';
      throw new NightshiftError('bad-table', `the table has a column "${name}" already`, hint);
    }
    names.add(name);
  }
  const inHeader = Buffer.from(columns.map(({ name }) => `,${encodeCell(name, name)}`).join(''));
  const inRow = Buffer.from(columns.map(({ name, value }) => `,${encodeCell(value, name)}`).join(''));
  const growth = inHeader.length + table.rowCount * inRow.length;
  return rewrite(table, [...names], rowEndings(table, inHeader, inRow), growth);
}

/** One at a time, since there are as many as rows. */
function* rowEndings(table: Table, inHeader: Buffer, inRow: Buffer): Iterable<Splice> {
  for (let row = -1; row < table.rowCount; row++) {
    const end = table.rowEnd(row);
    yield { row, start: end, end, bytes: row === -1 ? inHeader : inRow };
  }
}

/** Appends rows with the line end of the header. A table without a final line end has none afterwards either. */
export function addRows(table: Table, rows: readonly (readonly string[])[]): Table {
  if (rows.length === 0) return table;
  const { bytes, header } = table;
  const lineEnd = table.bytes.toString('latin1', table.rowEnd(-1), table.starts[1]) || '\n';
  const closed = table.rowEnd(table.rowCount - 1) < bytes.length;
  const starts = new Uint32Array(table.starts.length + rows.length);
  starts.set(table.starts);
  const pieces = [bytes];
  let size = bytes.length;
  for (const [index, cells] of rows.entries()) {
    if (cells.length !== header.length) throw new RangeError(`A new row has ${cells.length} cells.`);
    const row = encodeRow(header, cells);
    const piece = Buffer.from(closed ? row + lineEnd : lineEnd + row);
    starts[table.rowCount + 1 + index] = closed ? size : size + lineEnd.length;
    size += piece.length;
    pieces.push(piece);
  }
  checkTableSize(size);
  starts[starts.length - 1] = size;
  return new Table(Buffer.concat(pieces, size), header, starts);
}

export function encodeRow(header: readonly string[], cells: readonly string[]): string {
  const alone = cells.length === 1;
  return cells.map((cell, column) => encodeCell(cell, header[column] ?? '', { alone })).join(',');
}

/** Copies the table with spans replaced (in order of position, each within its row) and its row starts moved along. */
function rewrite(table: Table, header: readonly string[], splices: Iterable<Splice>, growth: number): Table {
  const size = table.bytes.length + growth;
  checkTableSize(size);
  const bytes = Buffer.allocUnsafe(size);
  const starts = new Uint32Array(table.starts.length);
  let read = 0;
  let written = 0;
  let moved = 0;
  for (const splice of splices) {
    const shift = written - read;
    // The row of this splice starts before it, so it moves only by what came earlier.
    for (; moved <= splice.row + 1; moved++) starts[moved] = table.starts[moved]! + shift;
    written += table.bytes.copy(bytes, written, read, splice.start);
    written += splice.bytes.copy(bytes, written);
    read = splice.end;
  }
  const shift = written - read;
  for (; moved < starts.length; moved++) starts[moved] = table.starts[moved]! + shift;
  table.bytes.copy(bytes, written, read);
  return new Table(bytes, header, starts);
}
