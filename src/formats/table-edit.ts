import { NightshiftError } from '../core/model/errors.ts';
import { COMMA, CR, cellEnd, cellStart, checkTableSize, decodeCell, encodeCell, LF, QUOTE } from './table-bytes.ts';
import { Table } from './table-rows.ts';
import { MAX_COLUMNS } from './table-scan.ts';

/** Edits change only their own bytes (rule F5) and never scan the table again: a status costs a copy of its row. */

export interface CellChange {
  readonly row: number;
  readonly column: number;
  readonly value: string;
}

interface NewColumn {
  readonly name: string;
  /** For every existing row. */
  readonly value: string;
}

export interface Splice {
  /** -1: the header. */
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** Above this many, edited rows are merged into the base, so that a file is written in one call (IOV_MAX is 1024). */
const MOST_EDITED = 500;
/** A small table is merged sooner: copying this many bytes is cheaper than writing one more piece each time. */
const BYTES_FOR_A_PIECE = 1024;

/** How an empty cell is written if its row would otherwise be a line of commas, which is not a row. */
export const NO_VALUE = Buffer.from('""');

/** The last of several changes of a cell wins. A cell that already has the value keeps its source. */
export function editCells(table: Table, changes: readonly CellChange[]): Table {
  const rows = new Map<number, Map<number, string>>();
  for (const { row, column, value } of changes) {
    const values = rows.get(row);
    if (values) values.set(column, value);
    else rows.set(row, new Map([[column, value]]));
  }
  const sources: [number, Buffer][] = [];
  for (const [row, values] of rows) {
    const source = editRow(table, row, values);
    if (source) sources.push([row, source]);
  }
  return sources.length === 0 ? table : withSources(table, new Map([...table.edited, ...sources]));
}

/** The new source of a row, or undefined if nothing in it changes. */
function editRow(table: Table, row: number, values: ReadonlyMap<number, string>): Buffer | undefined {
  if (row < 0) throw new RangeError('The header is not edited cell by cell.');
  const { bytes, start, end } = table.source(row);
  const pieces: Buffer[] = [];
  let kept = start;
  for (const [column, value] of [...values].sort(([a], [b]) => a - b)) {
    const name = table.header[column];
    if (name === undefined) throw new RangeError(`There is no column ${column} in the table.`);
    const from = cellStart(bytes, start, end, column);
    const to = cellEnd(bytes, from, end);
    if (decodeCell(bytes, from, to) === value) continue;
    // Keep the quoting of the author.
    const style = { quoted: from < to && bytes[from] === QUOTE, alone: table.header.length === 1 };
    pieces.push(bytes.subarray(kept, from), Buffer.from(encodeCell(value, name, style)));
    kept = to;
  }
  if (pieces.length === 0) return undefined;
  const source = Buffer.concat([...pieces, bytes.subarray(kept, end)]);
  if (!source.every((byte) => byte === COMMA)) return source;
  return Buffer.concat([...pieces.slice(0, -1), NO_VALUE, bytes.subarray(kept, end)]);
}

/** Keeps edited rows apart until they are many, or long. */
function withSources({ base, header, starts, gaps }: Table, edited: ReadonlyMap<number, Buffer>): Table {
  const table = new Table(base, header, starts, gaps, edited);
  let beside = 0;
  for (const source of edited.values()) beside += source.length;
  checkTableSize(base.length + growthOf(table));
  const most = Math.min(MOST_EDITED, base.length / BYTES_FOR_A_PIECE);
  return edited.size > most || beside > base.length / 2 ? flatten(table) : table;
}

/** The same table in one piece. */
export function flatten(table: Table): Table {
  if (table.edited.size === 0) return table;
  const splices = [...table.edited].sort(([a], [b]) => a - b).map(([row, bytes]) => replaceRow(table, row, bytes));
  return rewrite(table, table.header, splices, growthOf(table));
}

function replaceRow(table: Table, row: number, bytes: Buffer): Splice {
  const { start, end } = table.sourceInBase(row);
  return { row, start, end, bytes };
}

function growthOf(table: Table): number {
  let growth = 0;
  for (const [row, source] of table.edited) {
    const { start, end } = table.sourceInBase(row);
    growth += source.length - (end - start);
  }
  return growth;
}

/** Appends columns to the header and to every row. */
export function addColumns(table: Table, columns: readonly NewColumn[]): Table {
  const names = new Set(table.header);
  for (const { name } of columns) {
    if (name.trim() === '') throw new NightshiftError('bad-table', 'a column needs a name', 'give it one');
    if (names.has(name)) {
      const hint = 'choose another name, or rename the existing column';
      throw new NightshiftError('bad-table', `the table already has a column "${name}"`, hint);
    }
    names.add(name);
  }
  if (names.size > MAX_COLUMNS) {
    const hint = 'drop a column that you do not need';
    throw new NightshiftError('bad-table', `a table can't have more than ${MAX_COLUMNS} columns`, hint);
  }
  const inHeader = Buffer.from(columns.map(({ name }) => `,${encodeCell(name, name)}`).join(''));
  const inRow = Buffer.from(columns.map(({ name, value }) => `,${encodeCell(value, name)}`).join(''));
  const flat = flatten(table);
  let growth = 0;
  for (const { bytes } of rowEndings(flat, inHeader, inRow)) growth += bytes.length;
  return rewrite(flat, [...names], rowEndings(flat, inHeader, inRow), growth);
}

/** A generator, because there are as many as rows. */
function* rowEndings(table: Table, inHeader: Buffer, inRow: Buffer): Iterable<Splice> {
  // An empty line is a row only in a table of one column.
  const afterNothing = inRow.every((byte) => byte === COMMA) ? Buffer.concat([NO_VALUE, inRow]) : inRow;
  for (let row = -1; row < table.rowCount; row++) {
    const { start, end } = table.sourceInBase(row);
    yield { row, start: end, end, bytes: row === -1 ? inHeader : start === end ? afterNothing : inRow };
  }
}

/** Appends rows with the line ending of the header. A table without a final line ending stays without one. */
export function addRows(table: Table, rows: readonly (readonly string[])[]): Table {
  if (rows.length === 0) return table;
  const flat = flatten(table);
  const { base: bytes, header } = flat;
  const lineEnd = bytes[flat.sourceInBase(-1).end] === CR ? '\r\n' : '\n';
  const closed = bytes.at(-1) === LF;
  const starts = new Uint32Array(flat.starts.length + rows.length);
  starts.set(flat.starts);
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
  return new Table(Buffer.concat(pieces, size), header, starts, flat.gaps);
}

export function encodeRow(header: readonly string[], cells: readonly string[]): string {
  const isEmpty = cells.every((cell) => cell === '');
  return cells
    .map((cell, column) => encodeCell(cell, header[column] ?? '', { alone: isEmpty && column === 0 }))
    .join(',');
}

/** Copies the base with spans replaced (ordered by position, each within its row) and adjusts the row starts. */
export function rewrite(table: Table, header: readonly string[], splices: Iterable<Splice>, growth: number): Table {
  const size = table.base.length + growth;
  checkTableSize(size);
  const bytes = Buffer.allocUnsafe(size);
  const starts = new Uint32Array(table.starts.length);
  let read = 0;
  let written = 0;
  let moved = 0;
  for (const splice of splices) {
    const shift = written - read;
    // The row of this splice starts before it, so only earlier splices move it.
    for (; moved <= splice.row + 1; moved++) starts[moved] = table.starts[moved]! + shift;
    written += table.base.copy(bytes, written, read, splice.start);
    written += splice.bytes.copy(bytes, written);
    read = splice.end;
  }
  const shift = written - read;
  for (; moved < starts.length; moved++) starts[moved] = table.starts[moved]! + shift;
  table.base.copy(bytes, written, read);
  const gaps = [...table.gaps].map(([row, end]): [number, number] => {
    return [row, end + starts[row + 2]! - table.starts[row + 2]!];
  });
  return new Table(bytes, header, starts, new Map(gaps));
}
