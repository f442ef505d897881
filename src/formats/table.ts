import { NightshiftError } from '../core/model/errors.ts';
import { readStatus, STATUSES } from '../core/model/status.ts';
import { cellEnd, cellStart, cellStartFromEnd, checkTableSize, decodeCell, lineAt } from './table-bytes.ts';
import { encodeRow } from './table-edit.ts';
import { checkEncoding } from './table-encoding.ts';
import { refuseConflict, refuseOtherSeparator } from './table-mistakes.ts';
import { Table } from './table-rows.ts';
import { scanTable } from './table-scan.ts';

export { changeColumns, removeRows, renameColumn } from './table-columns.ts';
export { addColumns, addRows, type CellChange, editCells } from './table-edit.ts';
export type { Table } from './table-rows.ts';

/** Reads `table.csv` (rule F3). Throws `bad-table` on anything that two CSV readers might read differently. */
export function parseTable(bytes: Buffer, file: string): Table {
  checkTableSize(bytes.length, file);
  checkEncoding(bytes, file);
  try {
    const { header, starts, gaps } = scanTable(bytes, file);
    if (header.length === 1) refuseOtherSeparator(bytes, file);
    return new Table(bytes, header, starts, gaps);
  } catch (error) {
    // The first error found is seldom the cause.
    refuseConflict(bytes, file);
    refuseOtherSeparator(bytes, file);
    throw error;
  }
}

/** A new table: LF, a final line ending, quotes only where needed. */
export function createTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  file = 'table.csv',
): Table {
  const lines = [header, ...rows].map((cells) => `${encodeRow(header, cells)}\n`);
  return parseTable(Buffer.from(lines.join('')), file);
}

const TODO = STATUSES.indexOf('todo');
const STATUS_BYTES = STATUSES.map((status) => Buffer.from(status));

/** For each row the index of its status in `STATUSES`; an empty cell is `todo`. Any other value throws (rule F6). */
export function readStatuses(table: Table, column: number, file: string): Uint8Array {
  const statuses = new Uint8Array(table.rowCount);
  const behind = table.header.length - 1 - column;
  for (let row = 0; row < statuses.length; row++) {
    const { bytes, start: rowStart, end: limit } = table.source(row);
    const fromEnd = cellStartFromEnd(bytes, rowStart, limit, behind);
    const start = fromEnd === -1 ? cellStart(bytes, rowStart, limit, column) : fromEnd;
    const end = cellEnd(bytes, start, limit);
    let status = bareStatus(bytes, start, end);
    if (status === -1) {
      const value = decodeCell(bytes, start, end);
      const found = readStatus(value);
      status = found === undefined ? -1 : STATUSES.indexOf(found);
      if (status === -1) {
        const line = table.lineOf(row) + lineAt(bytes.subarray(rowStart), start - rowStart) - 1;
        throw unknownStatus(table, column, file, row, value, line);
      }
    }
    statuses[row] = status;
  }
  return statuses;
}

/** Compares bytes: a string for every row would take ten times as long. */
function bareStatus(bytes: Buffer, start: number, end: number): number {
  if (start === end) return TODO;
  for (let index = 0; index < STATUS_BYTES.length; index++) {
    const status = STATUS_BYTES[index]!;
    if (status.length !== end - start) continue;
    let at = 0;
    while (at < status.length && status[at] === bytes[start + at]) at++;
    if (at === status.length) return index;
  }
  return -1;
}

function unknownStatus(
  table: Table,
  column: number,
  file: string,
  row: number,
  value: string,
  line: number,
): NightshiftError {
  const name = table.header[column];
  const shown = JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  const meant = value.trim().toLowerCase().replace(/[ -]/g, '_');
  const fix =
    readStatus(meant) !== undefined
      ? `write it as "${meant}", in lower case and without spaces`
      : `correct the cell; if "${name}" is not a task, take it out of the Task Order in manager.md`;
  return new NightshiftError(
    'bad-table',
    `row ${row + 1} has the unknown status ${shown} in column "${name}"`,
    `the five statuses are ${STATUSES.join(', ')}; ${fix}`,
    { file, line },
  );
}
