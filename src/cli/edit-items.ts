import { NightshiftError } from '../core/errors.ts';
import type { CellEdit } from '../core/events.ts';
import { nearest } from '../core/names.ts';
import { isStatus, mayWrite, STATUSES, type Status } from '../core/status.ts';
import { outputsByTask } from '../formats/compile.ts';
import { addRows, type CellChange, editCells, type Table } from '../formats/table.ts';
import { refuseOpenBatch } from '../store/batch-file.ts';
import { Identities } from '../store/identities.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { ShiftFiles } from '../store/shift-files.ts';
import { changeTable } from '../store/table-change.ts';
import type { Io } from './io.ts';
import { refuseAgents } from './refuse-agents.ts';

/** The table of a shift, and what its columns mean. */
export interface OpenTable {
  readonly io: Io;
  readonly paths: ShiftPaths;
  readonly tasks: readonly string[];
  /** The columns that are not part of an item's identity. */
  readonly statusAndOutputs: ReadonlySet<string>;
}

export async function openTable(io: Io, paths: ShiftPaths): Promise<OpenTable> {
  const documents = await new ShiftFiles(paths).read();
  const tasks = documents.tasks.map((task) => task.name);
  const statusAndOutputs = new Set([...tasks, ...[...outputsByTask(documents).values()].flat()]);
  return { io, paths, tasks, statusAndOutputs };
}

/** Adds all rows of another table, in one write; `from` is the index of the first. */
export function importItems({ io, paths, tasks }: OpenTable, source: Table): Promise<{ added: number; from: number }> {
  return changeTable(
    paths,
    (table) => {
      for (const name of source.header) requireColumn(table, name);
      const rows = Array.from({ length: source.rowCount }, (_, row) => {
        const cells = source.cells(row);
        return newRow(tasks, table, new Map(source.header.map((name, column) => [name, cells[column]!])));
      });
      const answer = { added: rows.length, from: table.rowCount };
      return { table: rows.length > 0 ? addRows(table, rows) : table, answer };
    },
    io.now,
  );
}

interface ResetWish {
  readonly task?: string | undefined;
  /** As they were given; none: all rows, of which what failed. */
  readonly named: readonly string[];
  /** `parseIndex` or `parseRow`. */
  readonly parse: (text: string, count: number) => number;
  readonly onlyFailed?: boolean | undefined;
}

/** Back to `todo`: what failed, or the named items whatever they are; answers how many item-tasks. */
export async function resetItems(open: OpenTable, { task, named, parse, onlyFailed }: ResetWish): Promise<number> {
  const { io, paths, statusAndOutputs } = open;
  refuseAgents(io);
  refuseOpenBatch(paths, io.now());
  if (task !== undefined) requireTask(open, task);
  const tasks = task === undefined ? open.tasks : [task];
  const isMeant = (from: Status) =>
    onlyFailed === true || named.length === 0 ? from === 'failed' : mayWrite('reset', from, 'todo');
  return changeTable(
    paths,
    (table) => {
      const chosen = new Set(named.map((text) => parse(text, table.rowCount)));
      const rows = chosen.size > 0 ? chosen : Array.from({ length: table.rowCount }, (_, row) => row);
      const changes: CellChange[] = [];
      const edits: CellEdit[] = [];
      const identities = new Identities(table, statusAndOutputs);
      for (const row of rows) {
        for (const name of tasks) {
          const column = requireColumn(table, name);
          const from = table.cell(row, column) as Status;
          if (!isMeant(from)) continue;
          changes.push({ row, column, value: 'todo' });
          edits.push({ item: identities.id(row), column: name, from, to: 'todo' });
        }
      }
      return { table: editCells(table, changes), answer: changes.length, edits };
    },
    io.now,
  );
}

/** The cells of a row to be added; a status that is not given is `todo`. */
export function newRow(tasks: readonly string[], table: Table, values: ReadonlyMap<string, string>): string[] {
  return table.header.map((name) => {
    const value = values.get(name);
    if (!tasks.includes(name)) return value ?? '';
    if (value !== undefined && value !== '' && !isStatus(value)) throw unknownStatus(value);
    return value || 'todo';
  });
}

export function requireColumn(table: Table, name: string): number {
  const column = table.columnOf(name);
  if (column >= 0) return column;
  const near = nearest(name, table.header);
  const hint = near ? `did you mean ${near}?` : `columns are: ${table.header.join(', ')}`;
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
