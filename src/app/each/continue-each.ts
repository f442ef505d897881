import { NightshiftError } from '../../core/model/errors.ts';
import { STATUSES, type Status } from '../../core/model/status.ts';
import { compileShift } from '../../formats/compile.ts';
import { createEachTask, EACH_TASK, readRequestId, requestId } from '../../formats/each-task.ts';
import { readStatuses, type Table } from '../../formats/table.ts';
import { parseTask } from '../../formats/task.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { refuseSecondRun } from '../../store/folder/run-lock.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import { addItems, type OpenTable, openTable } from '../edit/edit-items.ts';
import type { World } from '../world.ts';
import { checkRequest } from './check-request.ts';
import { checkSelection } from './check-selection.ts';
import { type EachOptions, type EachPlan, requestOf, whoWorks, workingDir } from './each-plan.ts';
import type { EachItems } from './items-for-each.ts';
import { newRows } from './new-rows.ts';

/**
 * A shift that an earlier call made: rows that are new are added, rows that are done stay done. Another request is
 * applied as long as no row is done; after that it is refused, because its rows would count as done without it.
 */
export async function planContinued(
  world: World,
  { root, name }: ShiftPaths,
  items: EachItems,
  options: EachOptions,
): Promise<EachPlan> {
  const paths = openShift(root, name);
  const open = await openTable(world, paths);
  const made = madeFor(open);
  refuseOtherPlace(world, open);
  const table = await readTable(paths);
  const { agent, model, limits, parallel, selection } = options;
  const compiled = compileShift(open.documents, table.header, { agent, model, limits });
  const request = requestOf(options, whoWorks(compiled).agent);
  const isRewritten = made !== requestId(request);
  const statuses = statusesIn(table, paths);
  if (isRewritten) refuseMixedRequests(paths, statuses);
  const ignored = new Set([...open.statusAndOutputs, ...request.outputs]);
  const columns = table.header.filter((column) => !ignored.has(column));
  checkRequest(request, columns, new Set(open.documents.secrets.keys()));
  const added = newRows(items.table, table, ignored);
  checkSelection(selection, table, paths.table, added);
  const task = isRewritten ? createEachTask(request) : undefined;
  if (task !== undefined) compileChanged(open, task, table);
  const { maxBatchSize, parallel: isParallel } = compiled.settings;
  return {
    ...{ paths, isNew: false, rows: table.rowCount + added.length, added: added.length, columns, request, isRewritten },
    ...{ leftOut: items.leftOut, failed: statuses.filter((status) => status === 'failed').length },
    ...whoWorks(compiled),
    ...{ model: compiled.tasks[0]!.settings.model, limits: compiled.settings.limits },
    atOnce: parallel ?? (isParallel ? (maxBatchSize ?? Number.POSITIVE_INFINITY) : 1),
    overrides: overridesOf(open, { agent, model }),
    write: async () => {
      refuseSecondRun(paths.runLock, name);
      const files = new ShiftFiles(paths);
      if (task !== undefined) await files.replaceTask(EACH_TASK, task);
      for (const [key, value] of Object.entries(sizes(parallel))) await files.set(key, value);
      if (added.length > 0) await addItems(await openTable(world, paths), columnsOf(items.table, ignored), added);
    },
  };
}

/** What the manifest has already is no override: suggested commands need not repeat it. */
function overridesOf({ documents }: OpenTable, given: EachPlan['overrides']): EachPlan['overrides'] {
  const isOther = ([key, value]: [string, string | undefined]) =>
    documents.manager.settings.find((setting) => setting.key === key)?.value !== value;
  return Object.fromEntries(Object.entries(given).filter(isOther));
}

/** The request that the shift was made for. */
function madeFor({ paths, documents }: OpenTable): string {
  const task = documents.tasks.find(({ name }) => name === EACH_TASK);
  const made = task && readRequestId(task.document.text);
  if (made !== undefined) return made;
  const message = `there is already a shift ${paths.name}, which \`nightshift each\` did not make`;
  throw new NightshiftError('usage', message, 'choose another name with --name', { file: paths.folder });
}

/** Relative paths in the items would lead elsewhere. */
function refuseOtherPlace(world: World, { paths, documents }: OpenTable): void {
  const place = documents.manager.settings.find(({ key, value }) => key === 'working-dir' && value !== '');
  const [set, here] = [place?.value ?? '.', workingDir(world, paths) ?? '.'];
  if (set === here) return;
  const message = `${paths.name} works in ${set}, but you are in ${here} (below ${paths.root})`;
  throw new NightshiftError('usage', message, 'change to that folder, or choose another name with --name');
}

function statusesIn(table: Table, { table: file }: ShiftPaths): Status[] {
  return Array.from(readStatuses(table, table.columnOf(EACH_TASK), file), (code) => STATUSES[code]!);
}

function refuseMixedRequests({ name }: ShiftPaths, statuses: readonly Status[]): void {
  const finished = statuses.filter((status) => status === 'done' || status === 'qa').length;
  if (finished === 0) return;
  const message = `${name} was made for another --do, --check or --out, and rows are done already (${finished})`;
  const edit = `\`nightshift edit ${name} ${EACH_TASK}\` changes what is asked of the other rows`;
  throw new NightshiftError('usage', message, `--name makes a shift of its own; ${edit}`);
}

/** Reads the new task as a run would, before it is written. */
function compileChanged({ paths, documents }: OpenTable, text: string, table: Table): void {
  const file = paths.task(EACH_TASK);
  const tasks = documents.tasks.map((task) => {
    return task.name === EACH_TASK ? { ...task, document: parseTask(text, file) } : task;
  });
  compileShift({ ...documents, tasks }, table.header);
}

function sizes(parallel: number | undefined): Record<string, string> {
  if (parallel === undefined) return {};
  if (parallel === 1) return { parallel: 'false' };
  return { parallel: 'true', 'current-batch-size': `${parallel}`, 'max-batch-size': `${parallel}` };
}

function columnsOf({ header }: Table, ignored: ReadonlySet<string>): string[] {
  return header.filter((name) => !ignored.has(name));
}
