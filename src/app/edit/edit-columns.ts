import { existsSync } from 'node:fs';
import type { History } from '../../core/folds/history.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { basisAfter, type IdentityBasis, settleBasis } from '../../core/model/identity-basis.ts';
import { checkColumnName } from '../../core/model/names.ts';
import { readStatus } from '../../core/model/status.ts';
import type { ColumnChange } from '../../core/model/table-edit.ts';
import { compileShift, outputPlace } from '../../formats/compile.ts';
import { changeColumns, type Table } from '../../formats/table.ts';
import { readBatch } from '../../store/folder/batch-file.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { Identities } from '../../store/folder/table/identities.ts';
import { identitiesOf, readBasis } from '../../store/folder/table/identity-file.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import { readHistory } from '../history.ts';
import { type OpenTable, requireColumn } from './edit-items.ts';

export interface ColumnWish {
  readonly change: ColumnChange;
  /** Even if a task uses it; never while the shift runs. */
  readonly force?: boolean | undefined;
}

/** Adds, renames or drops a column of metadata, also while the shift runs. Returns how many rows have it. */
export async function editColumn(open: OpenTable, { change, force }: ColumnWish): Promise<{ rows: number }> {
  const { world, paths } = open;
  const history = await readHistory(paths, world);
  return changeTable(
    paths,
    (table) => {
      if (change.kind !== 'add') refuseToLose(open, table, { change, force });
      if (change.kind !== 'drop') refuseName(open, table, change.kind === 'add' ? change.name : change.to);
      const changed = changeColumns(table, change)!;
      const basis = isUntouched(open, table, history) ? undefined : basisOf(open, { table, changed, change, history });
      return { table: changed, answer: { rows: table.rowCount }, columns: [change], basis };
    },
    world.now,
  );
}

function refuseName({ documents, tasks }: OpenTable, table: Table, name: string): void {
  checkColumnName(name);
  const output = outputPlace(documents, name);
  if (output) {
    const { task, ...place } = output;
    const message = `${name} is an output of ${task}: Nightshift adds its column itself`;
    throw new NightshiftError('usage', message, 'choose another name', place);
  }
  if (table.columnOf(name) < 0) return;
  const holds = tasks.includes(name) ? ', which holds the statuses of a task' : '';
  throw new NightshiftError('usage', `the table already has a column ${name}${holds}`, 'choose another name');
}

/** Refuses to drop or rename a column that something needs. */
function refuseToLose(open: OpenTable, table: Table, { change: { kind, name }, force }: ColumnWish): void {
  const { documents, paths, tasks, statusAndOutputs } = open;
  requireColumn(table, name);
  const edit = (document: string) => `\`nightshift edit ${paths.name} ${document}\``;
  if (tasks.includes(name)) {
    const hint = `take ${name} out of the Task Order first: ${edit('manager')}`;
    throw new NightshiftError('usage', `the column ${name} holds the statuses of the task ${name}`, hint);
  }
  const output = outputPlace(documents, name);
  if (output) {
    const { task, ...place } = output;
    const hint = `take it out of \`outputs\` first: ${edit(task)}`;
    throw new NightshiftError('usage', `the column ${name} holds an output of ${task}`, hint, place);
  }
  const rest = table.header.filter((each) => each !== name);
  if (kind === 'drop' && rest.every((each) => statusAndOutputs.has(each))) {
    const hint = 'add another column before you drop this one';
    throw new NightshiftError('usage', `${name} is the only metadata column`, hint);
  }
  const use = placeOfUse(documents, rest, name);
  const isRunning = runs(paths);
  if (use && (!force || isRunning)) {
    const change = `change it there: ${edit(use.task)}`;
    const hint = isRunning
      ? `stop the shift first, or ${change}`
      : `${change}; or add --force, and change it afterwards`;
    throw new NightshiftError('usage', `the task ${use.task} uses {${name}}`, hint, { file: use.file, line: use.line });
  }
}

interface Use {
  readonly task: string;
  readonly file: string;
  readonly line: number;
}

/** The first place in a task that names the column. */
function placeOfUse(documents: OpenTable['documents'], header: readonly string[], name: string): Use | undefined {
  try {
    compileShift(documents, header);
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.placeholder !== name) return undefined;
    const { file = '', line = 1 } = error;
    return { task: documents.tasks.find((each) => each.file === file)?.name ?? 'manager', file, line };
  }
  return undefined;
}

function runs({ runLock }: OpenTable['paths']): boolean {
  return existsSync(runLock) && currentHolder(runLock) !== undefined;
}

/** Nothing has begun and nothing remembers an id, so ids may follow the new columns. */
function isUntouched({ paths, tasks }: OpenTable, table: Table, history: History): boolean {
  if (!history.isEmpty || runs(paths) || readBatch(paths)) return false;
  const columns = tasks.map((task) => requireColumn(table, task));
  for (let row = 0; row < table.rowCount; row++) {
    if (columns.some((column) => readStatus(table.cell(row, column)) !== 'todo')) return false;
  }
  return true;
}

interface Changed {
  readonly table: Table;
  readonly changed: Table;
  readonly change: ColumnChange;
  readonly history: History;
}

/** What ids are derived from afterwards, so that everything remembered of an item is still found (rule T7). */
function basisOf(
  { paths, tasks, statusAndOutputs }: OpenTable,
  { table, changed, change, history }: Changed,
): IdentityBasis {
  const metadata = table.header.filter((name) => !statusAndOutputs.has(name));
  const before = settleBasis(readBasis(paths.identity), metadata);
  const after = basisAfter(before, table.header, change);
  if (change.kind !== 'drop' || before.added.has(change.name)) return after;
  // The values are gone with the column. Keep the old ids of rows that the history or a run remembers.
  const now = identitiesOf(paths, table, statusAndOutputs);
  const derived = new Identities(changed, statusAndOutputs, [], { ...after, kept: new Map() });
  const isRemembered = (id: string) => tasks.some((task) => history.of(task, id) !== undefined);
  const kept = new Map(before.kept);
  const columns = tasks.map((task) => requireColumn(table, task));
  for (let row = 0; row < table.rowCount; row++) {
    const isInFlight = columns.some((column) => ['in_progress', 'qa'].includes(table.cell(row, column)));
    if (history.isEmpty && !isInFlight) continue;
    const id = now.id(row);
    const plain = derived.id(row);
    if (isRemembered(id) || (isInFlight && !isRemembered(plain))) kept.set(plain, id);
  }
  return { ...after, kept };
}
