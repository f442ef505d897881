import { NightshiftError } from '../core/model/errors.ts';
import { checkTaskName } from '../core/model/names.ts';
import { isStatus, readStatus, STATUSES, type Status } from '../core/model/status.ts';
import { countItems } from '../core/schedule/plan.ts';
import { headOf, listItems } from './list.ts';
import { parseManager, setProgress } from './manager.ts';
import { findSections, scan, splice } from './markdown.ts';
import { upgradeManager, upgradeTask } from './older-documents.ts';
import { unquote } from './settings.ts';
import {
  type CellChange,
  createTable,
  editCells,
  parseTable,
  readStatuses,
  renameColumn,
  type Table,
} from './table.ts';

/** The files of a shift that may have been written for an older program. */
export interface OlderShift {
  readonly manager: string;
  readonly table: Buffer;
  /** The names of all files in the folder. */
  readonly files: readonly string[];
  /** The text of each task file that the Task Order names, by its name. */
  readonly tasks: ReadonlyMap<string, string>;
}

/** How an old shift is converted. */
export interface Upgrade {
  /** A short description of each. */
  readonly changes: readonly string[];
  /** What only a person can decide; if there are any, nothing is changed. */
  readonly obstacles: readonly string[];
  readonly manager: string;
  readonly table: Buffer;
  /** Changed task files, by their new name. */
  readonly tasks: ReadonlyMap<string, string>;
  readonly renames: readonly { readonly from: string; readonly to: string }[];
  readonly removals: readonly string[];
}

/**
 * The words of older programs, in lower case and with underscores. Items in progress start over, because it is
 * unknown how far they got.
 */
const OLDER_STATUSES: Readonly<Record<string, Status>> = {
  pending: 'todo',
  open: 'todo',
  new: 'todo',
  to_do: 'todo',
  not_started: 'todo',
  in_progress: 'todo',
  inprogress: 'todo',
  running: 'todo',
  started: 'todo',
  in_qa: 'qa',
  review: 'qa',
  in_review: 'qa',
  complete: 'done',
  completed: 'done',
  finished: 'done',
  passed: 'done',
  fail: 'failed',
  error: 'failed',
};
/** `qsv edit -i` leaves these, and newer versions of it fail on them. */
const LEFT_BY_QSV = /^table\.csv\.bak(\.\d+)?$/;

/** Throws the errors of the parsers if a file can't be read at all. */
export function planUpgrade(shift: OlderShift, managerFile: string, tableFile: string): Upgrade {
  const changes: string[] = [];
  const obstacles: string[] = [];
  const names = renamedTasks(shift.manager);
  const renames: { from: string; to: string }[] = [];
  let table = parseTable(shift.table.toString().trim() === '' ? firstHeader(shift, changes) : shift.table, tableFile);
  for (const { from, to } of names) {
    changes.push(`the task ${from} becomes ${to}: in the Task Order, its file and its column`);
    if (shift.files.includes(`${to}.md`)) obstacles.push(`there are both ${from}.md and ${to}.md`);
    else if (shift.files.includes(`${from}.md`)) renames.push({ from: `${from}.md`, to: `${to}.md` });
    if (table.columnOf(to) >= 0 && table.columnOf(from) >= 0)
      obstacles.push(`there are both columns ${from} and ${to}`);
    else if (table.columnOf(from) >= 0) table = renameColumn(table, from, to);
  }
  const ofManager = upgradeManager(renameInOrder(shift.manager, names), names, orderedTasks(shift.manager).length > 0);
  let manager = ofManager.text;
  changes.push(...ofManager.changes);
  const texts = new Map<string, string>();
  for (const [file, text] of shift.tasks) {
    const name = renames.find(({ from }) => from === file)?.to ?? file;
    const upgraded = upgradeTask(text, name, names);
    changes.push(...upgraded.changes);
    if (upgraded.text !== text) texts.set(name, upgraded.text);
  }
  const { tasks, progress } = parseManager(manager, managerFile);
  const columns = tasks.map(({ name }) => table.columnOf(name)).filter((column) => column >= 0);
  for (const column of columns) table = translateStatuses(table, column, changes, obstacles);
  if (progress === undefined && obstacles.length === 0) {
    changes.push('manager.md gets a Progress section');
    manager = setProgress(manager, countTable(table, columns, tableFile));
  }
  const removals = shift.files.filter((name) => LEFT_BY_QSV.test(name));
  for (const name of removals) changes.push(`${name}, left by an older table tool, moves to the backup`);
  return { changes, obstacles, manager, table: table.bytes, tasks: texts, renames, removals };
}

/** The names in the Task Order, as written. */
export function orderedTasks(manager: string): string[] {
  return orderItems(manager).map(({ name }) => name);
}

/** Some older programs start with a table without columns. */
function firstHeader({ manager }: OlderShift, changes: string[]): Buffer {
  const header = ['row', ...orderedTasks(manager)];
  changes.push(`table.csv, which is empty, gets its header: ${header.join(', ')}`);
  return createTable(header, []).bytes;
}

function orderItems(text: string): { name: string; start: number }[] {
  const section = findSections(scan(text), 'Task Order')[0];
  if (section === undefined) return [];
  return listItems(section.lines, 'numbered').map((item) => {
    const line = item.lines[0]!;
    const name = unquote(headOf(item));
    return { name, start: line.start + line.text.indexOf(name, item.content) };
  });
}

/** Tasks whose name is valid once its hyphens are underscores. */
function renamedTasks(manager: string): { from: string; to: string }[] {
  return orderItems(manager).flatMap(({ name }) => {
    const to = name.replaceAll('-', '_');
    return to !== name && isTaskName(to) ? [{ from: name, to }] : [];
  });
}

function isTaskName(name: string): boolean {
  try {
    checkTaskName(name);
    return true;
  } catch (error) {
    if (error instanceof NightshiftError) return false;
    throw error;
  }
}

function renameInOrder(text: string, names: readonly { from: string; to: string }[]): string {
  let changed = text;
  for (const { name, start } of orderItems(text).toReversed()) {
    const to = names.find(({ from }) => from === name)?.to;
    if (to !== undefined) changed = splice(changed, start, start + name.length, to);
  }
  return changed;
}

function translateStatuses(table: Table, column: number, changes: string[], obstacles: string[]): Table {
  const task = table.header[column]!;
  const edits: CellChange[] = [];
  const times = new Map<string, number>();
  for (let row = 0; row < table.rowCount; row++) {
    const value = table.cell(row, column);
    if (readStatus(value) !== undefined) continue;
    const word = value.trim().toLowerCase().replace(/[ -]+/g, '_');
    const to = OLDER_STATUSES[word] ?? (isStatus(word) ? word : undefined);
    if (to === undefined) {
      obstacles.push(
        `row ${row + 1} has ${JSON.stringify(value)} in column ${task}: write one of ${STATUSES.join(', ')}`,
      );
      continue;
    }
    edits.push({ row, column, value: to });
    const said = `${JSON.stringify(value)} becomes ${to}`;
    times.set(said, (times.get(said) ?? 0) + 1);
  }
  for (const [said, count] of times) changes.push(`${task}: ${said} (${count === 1 ? '1 row' : `${count} rows`})`);
  return editCells(table, edits);
}

function countTable(table: Table, columns: readonly number[], file: string) {
  const tasks = columns.map((column) => table.header[column]!);
  return countItems({ count: table.rowCount, tasks, columns: columns.map((each) => readStatuses(table, each, file)) });
}
