import { NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { readStatus, STATUSES, type Status } from '../../core/model/status.ts';
import type { CellEdit } from '../../core/model/table-edit.ts';
import { countByTask, tasksToReset } from '../../core/schedule/reset.ts';
import { outputsByTask, type ShiftDocuments } from '../../formats/compile.ts';
import { addRows, type CellChange, editCells, type Table } from '../../formats/table.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { changeTable, type TableChange } from '../../store/folder/table/table-change.ts';
import { readItemsFile } from '../item-source.ts';
import { isNamed, type NamedRows, namedRows } from '../select-rows.ts';
import type { World } from '../world.ts';
import { findItems, type SeenItem } from './find-items.ts';

/** The table of a shift, and what its columns mean. */
export interface OpenTable {
  readonly world: World;
  readonly paths: ShiftPaths;
  readonly tasks: readonly string[];
  /** The columns that are not part of an item's identity. */
  readonly statusAndOutputs: ReadonlySet<string>;
  readonly documents: ShiftDocuments;
}

export async function openTable(world: World, paths: ShiftPaths): Promise<OpenTable> {
  const documents = await new ShiftFiles(paths).read();
  const tasks = documents.tasks.map((task) => task.name);
  const statusAndOutputs = new Set([...tasks, ...[...outputsByTask(documents).values()].flat()]);
  return { world, paths, tasks, statusAndOutputs, documents };
}

/** Adds all rows of a file, in one write. */
export async function importFile(open: OpenTable, file: string): Promise<{ added: number; from: number }> {
  return importItems(open, (await readItemsFile(open.world, file)).table);
}

/** Adds all rows of another table, in one write; `from` is the index of the first. */
export function importItems(open: OpenTable, source: Table): Promise<{ added: number; from: number }> {
  const rows = Array.from({ length: source.rowCount }, (_, row) => {
    const cells = source.cells(row);
    return new Map(source.header.map((name, column) => [name, cells[column]!]));
  });
  return addItems(open, source.header, rows);
}

/** Adds rows by column; a status that is not given is `todo`. */
export function addItems(
  { world, paths, tasks, statusAndOutputs }: OpenTable,
  names: readonly string[],
  rows: readonly ReadonlyMap<string, string>[],
): Promise<{ added: number; from: number }> {
  return changeTable(
    paths,
    (table) => {
      for (const name of names) requireColumn(table, name, `nightshift table ${paths.name} add-column NAME`);
      const answer = { added: rows.length, from: table.rowCount };
      if (rows.length === 0) return { table, answer };
      const number = names.includes(NUMBERED) || statusAndOutputs.has(NUMBERED) ? undefined : nextNumber(table);
      const cells = rows.map((values, i) => {
        return newRow(tasks, table, number === undefined ? values : new Map([...values, [NUMBERED, `${number + i}`]]));
      });
      const longer = addRows(table, cells);
      const identities = identitiesOf(paths, longer, statusAndOutputs);
      // Told to a run: it puts back any other status of a new row that it has not heard of.
      const edits = cells.flatMap((row, i) => {
        const claimed = tasks.filter((task) => row[table.columnOf(task)] !== 'todo');
        return claimed.map((column): CellEdit => {
          const to = row[table.columnOf(column)]!;
          return { item: identities.id(table.rowCount + i), column, from: 'todo', to };
        });
      });
      return { table: longer, answer, edits };
    },
    world.now,
  );
}

/** Without rows: everything that failed. */
export interface ResetRequest extends NamedRows {
  /** Instead of rows, wherever they are by now. */
  readonly items?: readonly SeenItem[] | undefined;
  readonly task?: string | undefined;
  /** All rows, whatever their status. */
  readonly all?: boolean | undefined;
  readonly onlyFailed?: boolean | undefined;
  /** Leave the later tasks of the items as they are. */
  readonly keepLater?: boolean | undefined;
}

/** How many item-tasks are `todo` again, in all and by task. */
export interface Reset {
  readonly reset: number;
  readonly tasks: Readonly<Record<string, number>>;
}

/** Resets failed item-tasks, or those of the named rows whatever their status, and the later tasks of these items. */
export async function resetItems(open: OpenTable, request: ResetRequest): Promise<Reset> {
  const { world, paths } = open;
  const { task, onlyFailed, keepLater, items } = request;
  refuseOpenBatch(paths, world.now());
  if (task !== undefined) requireTask(open, task);
  const hasRows = items !== undefined || isNamed(request);
  const failedOnly = onlyFailed === true || !(hasRows || request.all);
  const isChosen = (name: string, status: Status) =>
    (task === undefined || task === name) && (!failedOnly || status === 'failed');
  return changeTable(
    paths,
    (table) => {
      const every = () => Array.from({ length: table.rowCount }, (_, row) => row);
      const named = () => (items ? findItems(open, table, items) : namedRows(request, table.rowCount));
      const rows = hasRows ? named() : every();
      return resetRows(open, table, { rows, isNamed: (_, name, status) => isChosen(name, status), keepLater });
    },
    world.now,
  );
}

interface RowsToReset {
  readonly rows: Iterable<number>;
  readonly isNamed: (row: number, task: string, status: Status) => boolean;
  readonly keepLater?: boolean | undefined;
}

/** The change of the table that resets the named item-tasks and the later tasks of these items. */
export function resetRows(
  { paths, tasks, statusAndOutputs }: Pick<OpenTable, 'paths' | 'tasks' | 'statusAndOutputs'>,
  table: Table,
  { rows, isNamed, keepLater }: RowsToReset,
): TableChange<Reset> {
  const columns = tasks.map((name) => requireColumn(table, name));
  const identities = identitiesOf(paths, table, statusAndOutputs);
  const changes: CellChange[] = [];
  const edits: CellEdit[] = [];
  for (const row of rows) {
    const states = tasks.map((name, i) => {
      const status = readStatus(table.cell(row, columns[i]!)) ?? 'todo';
      return { status, isNamed: isNamed(row, name, status) };
    });
    for (const i of tasksToReset(states, keepLater)) {
      changes.push({ row, column: columns[i]!, value: 'todo' });
      edits.push({ item: identities.id(row), column: tasks[i]!, from: states[i]!.status, to: 'todo' });
    }
  }
  const counts = countByTask(
    tasks,
    edits.map(({ column }) => column),
  );
  return { table: editCells(table, changes), answer: { reset: changes.length, tasks: counts }, edits };
}

/** A column that numbers the rows: a new row gets the next number unless it has one. */
const NUMBERED = 'row';

/** Undefined: there is no such column, or it does not hold numbers. */
function nextNumber(table: Table): number | undefined {
  const column = table.columnOf(NUMBERED);
  if (column < 0) return undefined;
  let last = 0;
  for (let row = 0; row < table.rowCount; row++) {
    const cell = table.cell(row, column);
    if (!/^\d{1,15}$/.test(cell)) return undefined;
    last = Math.max(last, Number(cell));
  }
  return last + 1;
}

/** The cells of a row to be added; a status that is not given is `todo`. */
function newRow(tasks: readonly string[], table: Table, values: ReadonlyMap<string, string>): string[] {
  return table.header.map((name) => {
    const value = values.get(name);
    if (!tasks.includes(name)) return value ?? '';
    const status = readStatus(value ?? '');
    if (status === undefined) throw unknownStatus(value ?? '');
    return status;
  });
}

/** `remedy`: the command that adds a column. */
export function requireColumn(table: Table, name: string, remedy?: string): number {
  const column = table.columnOf(name);
  if (column >= 0) return column;
  const near = nearest(name, table.header);
  const known = near ? `did you mean ${near}?` : `columns are: ${table.header.join(', ')}`;
  const hint = remedy === undefined ? known : `${known}; \`${remedy}\` adds one`;
  throw new NightshiftError('not-found', `the table has no column ${JSON.stringify(name)}`, hint);
}

export function requireTask({ tasks, paths }: OpenTable, task: string): void {
  if (tasks.includes(task)) return;
  const near = nearest(task, tasks);
  const hint = near ? `did you mean ${near}?` : `tasks are: ${tasks.join(', ')}`;
  throw new NightshiftError('not-found', `${paths.name} has no task ${JSON.stringify(task)}`, hint);
}

export function unknownStatus(value: string): NightshiftError {
  const near = nearest(value, STATUSES);
  const choice = `statuses are: ${STATUSES.join(', ')}`;
  const hint = near ? `did you mean ${near}? ${choice}` : choice;
  return new NightshiftError('bad-transition', `${JSON.stringify(value)} is not a status`, hint);
}
