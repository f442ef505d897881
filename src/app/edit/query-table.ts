import { isStatus, readStatus } from '../../core/model/status.ts';
import type { Table } from '../../formats/table.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import { type NamedRows, namedRows } from '../select-rows.ts';
import { type OpenTable, requireColumn, requireTask, unknownStatus } from './edit-items.ts';

/** Rows of the table. Cells and lines are made when they are asked for: a table may have a million rows. */
export interface FoundRows {
  /** 0-based. */
  readonly indices: readonly number[];
  /** The cells by column. A status that is not written yet is `todo` (rule F6). */
  cells(index: number): Readonly<Record<string, string>>;
  /** The row as it is in the file; without an index, the header. */
  line(index?: number): string;
}

export async function countRows({ paths }: OpenTable): Promise<number> {
  return (await readTable(paths)).rowCount;
}

export interface StatusFilter {
  readonly status?: string | undefined;
  readonly task?: string | undefined;
}

/** Rows that have this status in one task, or in any; all rows if no status is given. */
export async function rowsWithStatus(open: OpenTable, { status, task }: StatusFilter): Promise<FoundRows> {
  if (status !== undefined && !isStatus(status)) throw unknownStatus(status);
  if (task !== undefined) requireTask(open, task);
  const table = await readTable(open.paths);
  const columns = (task === undefined ? open.tasks : [task]).map((name) => table.columnOf(name));
  const hasStatus = (cells: readonly string[]) => columns.some((column) => readStatus(cells[column]!) === status);
  return findIn(open, table, (cells) => status === undefined || hasStatus(cells));
}

/** Rows whose cell is exactly this. */
export async function rowsWithCell(open: OpenTable, name: string, value: string): Promise<FoundRows> {
  const table = await readTable(open.paths);
  const column = requireColumn(table, name);
  return findIn(open, table, (cells) => shownCell(open, name, cells[column]!) === value);
}

/** Named rows, in the order of the table. */
export async function rowsAt(open: OpenTable, named: NamedRows): Promise<FoundRows> {
  const table = await readTable(open.paths);
  const wanted = namedRows(named, table.rowCount);
  return findIn(open, table, (_, row) => wanted.has(row));
}

function findIn(open: OpenTable, table: Table, matches: (cells: readonly string[], row: number) => boolean): FoundRows {
  const indices: number[] = [];
  for (let row = 0; row < table.rowCount; row++) if (matches(table.cells(row), row)) indices.push(row);
  return {
    indices,
    cells: (index) => {
      const cells = table.cells(index);
      return Object.fromEntries(table.header.map((name, column) => [name, shownCell(open, name, cells[column]!)]));
    },
    line: (index) => {
      if (index !== undefined) return table.rowBytes(index).toString('utf8');
      return table.rowBytes(-1).toString('utf8').replace('\uFEFF', '');
    },
  };
}

function shownCell({ tasks }: OpenTable, name: string, cell: string): string {
  return tasks.includes(name) ? (readStatus(cell) ?? cell) : cell;
}
