import type { ColumnChange } from '../core/model/table-edit.ts';
import { COMMA, CR, cellEnd, cellStart, encodeCell, LF, QUOTE } from './table-bytes.ts';
import { addColumns, flatten, NO_VALUE, rewrite, type Splice } from './table-edit.ts';
import { Table } from './table-rows.ts';
import { lineEnd, scanTable } from './table-scan.ts';

const BOM = Buffer.from('\uFEFF');
const NOTHING = Buffer.alloc(0);

/** Undefined if it does not apply: the column does not exist, or the new name is taken. */
export function changeColumns(table: Table, change: ColumnChange): Table | undefined {
  const isThere = (name: string) => table.columnOf(name) >= 0;
  switch (change.kind) {
    case 'add':
      return isThere(change.name) ? undefined : addColumns(table, [change]);
    case 'rename':
      return isThere(change.name) && !isThere(change.to) ? renameColumn(table, change.name, change.to) : undefined;
    case 'drop':
      return isThere(change.name) && table.header.length > 1 ? dropColumn(table, change.name) : undefined;
  }
}

/** Separators of other programs; in quotes, every reader takes them as part of a name. */
const OTHER_SEPARATOR = /[;\t]/;

/** The name keeps its quotes. */
export function renameColumn(table: Table, from: string, to: string): Table {
  const flat = flatten(table);
  const column = flat.columnOf(from);
  const { bytes, start: first, end: limit } = flat.sourceInBase(-1);
  const start = cellStart(bytes, first, limit, column);
  const end = cellEnd(bytes, start, limit);
  const quoted = bytes[start] === QUOTE || OTHER_SEPARATOR.test(to);
  const name = Buffer.from(encodeCell(to, to, { quoted }));
  const header = flat.header.map((each, i) => (i === column ? to : each));
  return rewrite(flat, header, [{ row: -1, start, end, bytes: name }], name.length - (end - start));
}

/** Removes a column from the header and from every row. A row that is left without a value stays a row. */
function dropColumn(table: Table, name: string): Table {
  const flat = flatten(table);
  const column = flat.columnOf(name);
  const header = flat.header.filter((_, i) => i !== column);
  let growth = 0;
  for (const { start, end, bytes } of withoutCells(flat, column)) growth += bytes.length - (end - start);
  const narrower = rewrite(flat, header, withoutCells(flat, column), growth);
  return header.length === 1 ? withoutGaps(narrower) : narrower;
}

/** A generator, because there are as many as rows. */
function* withoutCells(table: Table, column: number): Iterable<Splice> {
  for (let row = -1; row < table.rowCount; row++) {
    const { bytes, start: first, end: limit } = table.sourceInBase(row);
    const from = cellStart(bytes, first, limit, column);
    const to = cellEnd(bytes, from, limit);
    // Together with one comma: the one after it, or the one before it.
    const [start, end] = column === 0 ? [from, Math.min(to + 1, limit)] : [from - 1, to];
    // A line of commas would not be a row.
    const isBlank = isCommas(bytes, first, start) && isCommas(bytes, end, limit);
    yield row === -1
      ? inHeader(table, { row, start, end, bytes: NOTHING })
      : { row, start, end, bytes: isBlank ? NO_VALUE : NOTHING };
  }
}

function isCommas(bytes: Buffer, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at] === COMMA) at++;
  return at === to;
}

/** A name that begins with a byte order mark is quoted if it moves to the beginning of the file. */
function inHeader({ base, header }: Table, splice: Splice): Splice {
  const { start, end } = splice;
  if (start > 0 || !base.subarray(end, end + BOM.length).equals(BOM)) return splice;
  const name = header[1]!;
  return { ...splice, end: end + Buffer.byteLength(name), bytes: Buffer.from(encodeCell(name, name)) };
}

/** In a table of one column, an empty line would be a row, and a line of commas an error. */
function withoutGaps(table: Table): Table {
  if (table.gaps.size === 0) return table;
  const rows = new Set(table.gaps.keys());
  const pieces: Buffer[] = [table.base.subarray(0, table.starts[0])];
  for (let row = -1; row < table.rowCount; row++) {
    const { start, end } = table.sourceInBase(row);
    const next = rows.has(row) ? afterLineEnd(table.base, end) : table.starts[row + 2]!;
    pieces.push(table.base.subarray(start, next));
  }
  return scanned(Buffer.concat(pieces));
}

/** Removes rows with their line endings. A table without a final line ending stays without one. */
export function removeRows(table: Table, rows: ReadonlySet<number>): Table {
  if (rows.size === 0) return table;
  const flat = flatten(table);
  const { base } = flat;
  const pieces: Buffer[] = [];
  let kept = 0;
  let last = -1;
  for (let row = 0; row < flat.rowCount; row++) {
    if (!rows.has(row)) last = row;
    else {
      const { start, end } = flat.sourceInBase(row);
      if (start > kept) pieces.push(base.subarray(kept, start));
      kept = afterLineEnd(base, end);
    }
  }
  pieces.push(base.subarray(kept));
  const bytes = Buffer.concat(pieces);
  const isOpen = base.at(-1) !== LF && kept === base.length;
  // An empty last value needs its line ending to count as a row.
  const { start, end } = flat.sourceInBase(last);
  return scanned(isOpen && end > start ? bytes.subarray(0, lineEnd(bytes, bytes.length)) : bytes);
}

function afterLineEnd(bytes: Buffer, end: number): number {
  if (bytes[end] === CR) return end + 2;
  return Math.min(end + 1, bytes.length);
}

function scanned(bytes: Buffer): Table {
  const { header, starts, gaps } = scanTable(bytes, 'table.csv');
  return new Table(bytes, header, starts, gaps);
}
