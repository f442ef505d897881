import { resolve } from 'node:path';
import { editWithToken } from '../../app/batch/token-edit.ts';
import { editColumn } from '../../app/edit/edit-columns.ts';
import {
  addItems,
  importItems,
  type OpenTable,
  openTable,
  requireColumn,
  requireTask,
  resetItems,
  resetLine,
  unknownStatus,
} from '../../app/edit/edit-items.ts';
import { removedLine, removeItems } from '../../app/edit/remove-items.ts';
import { parseIndex } from '../../app/rows.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { CellEdit } from '../../core/model/events.ts';
import { nearest } from '../../core/model/names.ts';
import { isArrow, isStatus, readStatus, STATUSES } from '../../core/model/status.ts';
import { editCells, type Table } from '../../formats/table.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { listShifts } from '../../store/folder/layout.ts';
import { readItems } from '../../store/folder/new-shift.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { changeTable, readTable } from '../../store/folder/table/table-change.ts';
import { count as counted } from '../../views/plain.ts';
import { printable } from '../../views/printable.ts';
import { chooseShift, requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export const VERBS = [
  ...(['count', 'headers', 'show', 'search', 'slice', 'edit', 'add', 'import', 'remove', 'reset'] as const),
  ...(['add-column', 'rename-column', 'drop-column'] as const),
] as const;
type Verb = (typeof VERBS)[number];

/** What every verb works with. */
interface Desk extends OpenTable {
  readonly io: Io;
  readonly args: readonly string[];
  readonly options: Options;
}

export async function run(io: Io, given: readonly string[], options: Options): Promise<number> {
  const { name, verb, args } = readArguments(io, given);
  const paths = await chooseShift(io, name);
  const table = await openTable(io, paths);
  refuseExtra(verb, args);
  if (options.token !== undefined && verb === 'edit') {
    const [column = '', index = '', value = ''] = args;
    const { token, reason, recommend, captured } = options;
    return editWithToken(io, paths, { column, index, value, token, reason, recommend, captured });
  }
  await HANDLERS[verb]({ ...table, io, args, options });
  return EXIT.done;
}

/** `table SHIFT VERB ...`, or `table VERB ...` where the shift need not be named. */
function readArguments(io: Io, given: readonly string[]): { name?: string; verb: Verb; args: readonly string[] } {
  const [first = '', second = ''] = given;
  const isShift = listShifts(requireRoot(io)).includes(first);
  const [verb, args] = isShift || !isVerb(first) ? [second, given.slice(2)] : [first, given.slice(1)];
  const name = isShift || !isVerb(first) ? first : undefined;
  if (isVerb(verb)) return { verb, args, ...(name === undefined || name === '' ? {} : { name }) };
  const near = nearest(verb, VERBS);
  const message = verb === '' ? 'a verb is missing' : `there is no verb ${JSON.stringify(verb)}`;
  throw new NightshiftError('usage', message, near ? `did you mean ${near}?` : `verbs are: ${VERBS.join(', ')}`);
}

/** How many arguments a verb takes; one too many is a slip, such as `--index 0 1`. */
const MOST_ARGUMENTS: Partial<Record<Verb, number>> = {
  ...{ edit: 3, add: Number.POSITIVE_INFINITY, import: 1 },
  ...{ 'add-column': 1, 'rename-column': 2, 'drop-column': 1 },
};
const TAKES_INDICES: readonly Verb[] = ['slice', 'remove', 'reset'];

function refuseExtra(verb: Verb, args: readonly string[]): void {
  const extra = args[MOST_ARGUMENTS[verb] ?? 0];
  if (extra === undefined) return;
  const hint = TAKES_INDICES.includes(verb) ? 'write --index before each index' : undefined;
  throw new NightshiftError('usage', `${verb} does not take ${JSON.stringify(extra)}`, hint);
}

function isVerb(text: string): text is Verb {
  return (VERBS as readonly string[]).includes(text);
}

const HANDLERS: Record<Verb, (desk: Desk) => Promise<void>> = {
  async count(desk) {
    const { rowCount } = await readTable(desk.paths);
    say(desk, { count: rowCount }, String(rowCount));
  },

  async headers(desk) {
    const { header } = await readTable(desk.paths);
    say(desk, { headers: header }, header.map(printable).join('\n'));
  },

  async show(desk) {
    const { status, task } = desk.options;
    if (status !== undefined && !isStatus(status)) throw unknownStatus(status);
    if (task !== undefined) requireTask(desk, task);
    const table = await readTable(desk.paths);
    const columns = (task === undefined ? desk.tasks : [task]).map((name) => table.columnOf(name));
    printRows(
      desk,
      table,
      (cells) => status === undefined || columns.some((column) => readStatus(cells[column]!) === status),
    );
  },

  async search(desk) {
    const { exact, select } = desk.options;
    if (exact === undefined || select === undefined) {
      throw wrongArguments('search needs --exact VALUE and --select COLUMN');
    }
    const table = await readTable(desk.paths);
    const column = requireColumn(table, select);
    printRows(desk, table, (cells) => shownCell(desk, select, cells[column]!) === exact);
  },

  async slice(desk) {
    const table = await readTable(desk.paths);
    const wanted = ((desk.options.index ?? []) as string[]).map((index) => parseIndex(index, table.rowCount));
    if (wanted.length === 0) throw wrongArguments('slice needs --index I (0-based)');
    printRows(desk, table, (_, row) => wanted.includes(row));
  },

  async edit(desk) {
    const [name = '', indexText = '', value] = desk.args;
    if (value === undefined) throw wrongArguments('edit needs COLUMN INDEX VALUE');
    const change = (table: Table) => {
      const column = requireColumn(table, name);
      const row = parseIndex(indexText, table.rowCount);
      const from = table.cell(row, column);
      const edits = desk.tasks.includes(name) ? [statusEdit(desk, table, row, name, from, value)] : [];
      const later = value === 'todo' ? laterTasks(desk, table, row, name) : [];
      return { table: editCells(table, [{ row, column, value }]), answer: { row, from, later }, edits };
    };
    const { row, from, later } = await changeTable(desk.paths, change, desk.io.now);
    say(
      desk,
      { column: name, index: row, from, to: value },
      `${name} of row ${row + 1} (index ${row}): ${printable(from)} -> ${printable(value)}`,
    );
    if (later.length > 0) {
      const reset = `nightshift table ${desk.paths.name} reset --task ${name} --index ${row}`;
      desk.io.warn(`note: ${later.join(', ')} of this row keep their status; \`${reset}\` resets them too`);
    }
  },

  async add(desk) {
    const values = desk.args.map(readAssignment);
    if (values.length === 0) throw wrongArguments('add needs NAME=VALUE...');
    const names = values.map(([name]) => name);
    const { from: index } = await addItems(desk, names, [new Map(values)]);
    say(desk, { index, row: index + 1 }, `added as row ${index + 1} (index ${index})`);
  },

  async import(desk) {
    const [file] = desk.args;
    if (file === undefined) throw wrongArguments('import needs FILE.csv');
    const { added } = await importItems(desk, await readItems(resolve(desk.io.cwd, file)));
    say(desk, { added }, `${counted(added, 'row')} added`);
  },

  async reset(desk) {
    const { task, failed, index = [], keepLater } = desk.options;
    const reset = await resetItems(desk, { task, onlyFailed: failed, named: index, parse: parseIndex, keepLater });
    say(desk, reset, resetLine(reset));
  },

  async remove(desk) {
    const { index = [], where } = desk.options;
    const removed = await removeItems(desk, { named: index, where, parse: parseIndex });
    say(desk, removed, removedLine(removed));
  },

  async 'add-column'(desk) {
    const [name] = desk.args;
    if (name === undefined) throw wrongArguments('add-column needs NAME');
    const { value = '' } = desk.options;
    const { rows } = await editColumn(desk, { change: { kind: 'add', name, value } });
    const filled = value === '' ? 'empty' : printable(value);
    say(desk, { column: name, rows }, `added the column ${printable(name)}: ${filled} in ${counted(rows, 'row')}`);
  },

  async 'rename-column'(desk) {
    const [name, to] = desk.args;
    if (name === undefined || to === undefined) throw wrongArguments('rename-column needs OLD NEW');
    await editColumn(desk, { change: { kind: 'rename', name, to }, force: desk.options.force });
    say(desk, { column: to, from: name }, `the column ${printable(name)} is now ${printable(to)}`);
  },

  async 'drop-column'(desk) {
    const [name] = desk.args;
    if (name === undefined) throw wrongArguments('drop-column needs NAME');
    const { rows } = await editColumn(desk, { change: { kind: 'drop', name }, force: desk.options.force });
    say(desk, { column: name, rows }, `dropped the column ${printable(name)}`);
  },
};

/** Tasks that come after one and are not at `todo`: they rest on what it did before. */
function laterTasks({ tasks }: Desk, table: Table, row: number, name: string): string[] {
  if (!tasks.includes(name)) return [];
  return tasks
    .slice(tasks.indexOf(name) + 1)
    .filter((task) => readStatus(table.cell(row, requireColumn(table, task))) !== 'todo');
}

/** A status goes only along the arrows (rule T1). */
function statusEdit(desk: Desk, table: Table, row: number, task: string, cell: string, to: string): CellEdit {
  const from = readStatus(cell);
  refuseOpenBatch(desk.paths, desk.io.now());
  if (!isStatus(to)) throw unknownStatus(to);
  if (from === undefined || !isArrow(from, to)) {
    const ways = from === undefined ? [] : STATUSES.filter((status) => isArrow(from, status));
    const hint = ways.length > 0 ? `from ${from} it can become ${ways.join(' or ')}` : undefined;
    throw new NightshiftError('bad-transition', `a status does not go from ${from ?? cell} to ${to}`, hint);
  }
  return { item: identitiesOf(desk.paths, table, desk.statusAndOutputs).id(row), column: task, from, to };
}

function wrongArguments(message: string): NightshiftError {
  return new NightshiftError('usage', message, '`nightshift table --help` shows all verbs and their arguments');
}

function readAssignment(text: string): [string, string] {
  const equals = text.indexOf('=');
  if (equals <= 0) throw wrongArguments(`${JSON.stringify(text)} is not NAME=VALUE`);
  return [text.slice(0, equals), text.slice(equals + 1)];
}

function printRows(desk: Desk, table: Table, matches: (cells: readonly string[], row: number) => boolean): void {
  const { io, options } = desk;
  const rows: { index: number; cells: string[] }[] = [];
  for (let index = 0; index < table.rowCount; index++) {
    const cells = table.cells(index);
    if (matches(cells, index)) rows.push({ index, cells });
  }
  if (options.json) {
    const shown = rows.map(({ index, cells }) => ({
      index,
      ...Object.fromEntries(table.header.map((name, column) => [name, shownCell(desk, name, cells[column]!)])),
    }));
    io.print(JSON.stringify({ rows: shown }));
    return;
  }
  io.print(`index,${printable(table.rowBytes(-1).toString('utf8').replace('\uFEFF', ''))}`);
  for (const { index } of rows) io.print(`${index},${printable(table.rowBytes(index).toString('utf8'))}`);
}

/** A status that nobody has written yet is `todo` (rule F6). */
function shownCell({ tasks }: Desk, name: string, cell: string): string {
  return tasks.includes(name) ? (readStatus(cell) ?? cell) : cell;
}

function say({ io, options }: Desk, json: object, line: string): void {
  io.print(options.json ? JSON.stringify(json) : line);
}
