import { type Reset, resetRows } from '../../app/edit/edit-items.ts';
import { readHistory, spentIn } from '../../app/history.ts';
import { nextOfRequest } from '../../app/next-command.ts';
import { parseRows } from '../../app/rows.ts';
import { planRun } from '../../app/run/plan-run.ts';
import type { History } from '../../core/folds/history.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import type { Status } from '../../core/model/status.ts';
import { limitsInForce, usedUp } from '../../core/schedule/limits.ts';
import { cellsAt, countEligible, statusAt, tasksFrom } from '../../core/schedule/plan.ts';
import { isSameRetry } from '../../core/schedule/retrying.ts';
import { outputsByTask } from '../../formats/compile.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { refuseSecondRun } from '../../store/folder/run-lock.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import { nextLine } from '../../views/next-line.ts';
import { count } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { resetLine } from '../../views/table.ts';
import { requireLimit } from '../ask-limit.ts';
import { chooseShift } from '../choose-shift.ts';
import { partFlags, requestOf } from '../command-line.ts';
import type { Io } from '../io.ts';
import { limitFlagsIn, readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { run as start } from './start.ts';

interface Failure {
  readonly row: number;
  readonly item: string;
  readonly task: string;
  readonly reason: string;
}

/** Whatever would refuse the start refuses it before anything is set back. */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { reason, task, agent, model, all, json } = options;
  const limits = readLimitFlags(options);
  const rows = options.rows === undefined ? undefined : parseRows(options.rows);
  const paths = await chooseShift(io, name);
  if (!options.dryRun) refuseSecondRun(paths.runLock, paths.name);
  const plan = await planRun(paths, { agent, model, task, rows, limits }, io);
  const history = await readHistory(paths, io);
  const failures = findFailures(history, plan, reason);
  const flags = partFlags(options);
  const left = leftOf(history, plan, flags);
  if (failures.length + left.size === 0 && !all) return nothingFailed(io, paths, plan, [reason, task, rows]);
  if (options.dryRun) {
    const others = all ? countEligible(plan.snapshot) : 0;
    return tell(io, { shift: paths.name, failures, left: left.size, others }, json);
  }
  // All that is left is continued by a start, which sets nothing back.
  const request = all ? requestOf('start', { agent, model, ...limitFlagsIn(options) }) : requestOf('retry', options);
  const now = io.now();
  const reached = usedUp(limitsInForce(plan.shift.settings.limits, false, now), spentIn(history), now);
  if (reached) {
    const asked = requestOf('retry', options);
    const next = nextOfRequest(paths.name, asked, plan.shift.settings.limits, { history, now });
    // A run that ends at once would only have taken the reasons of the failures away.
    io.warn(`nothing was reset: ${reached.text}; ${nextLine(next)}`);
    return EXIT.stopped;
  }
  if (!json) await requireLimit(io, paths, { agent, model, limits });
  const done = await setBack(paths, failures, plan, { io, flags, keepLater: options.keepLater });
  if (!json) io.print(done.reset === 0 ? 'nothing has failed' : resetLine(done));
  const from = new Map([...left, ...firstTasks(failures)]);
  const chosen = { agent, model, ...(all ? {} : { from }), request };
  return start(io, [paths.name], { json, plain: options.plain, ...chosen, ...limitFlagsIn(options) });
}

/** Where a choice was made it is probably a slip of the pen; else there is simply nothing to do. */
function nothingFailed(io: Io, paths: ShiftPaths, { snapshot }: Plan, choice: readonly unknown[]): number {
  if (choice.some((each) => each !== undefined)) {
    const message = `no failure of ${paths.name} matches`;
    const hint = `\`nightshift status ${paths.name}\` lists what failed, and why`;
    throw new NightshiftError('nothing-to-do', message, hint);
  }
  const others = countEligible(snapshot);
  const more = others === 0 ? '' : ` \`nightshift start ${paths.name}\` does the ${count(others, 'item-task')} left.`;
  io.print(`Nothing has failed.${more}`);
  return EXIT.done;
}

/** What the same command has set back before and was interrupted in: by item, from which task on. */
function leftOf({ retrying }: History, { snapshot }: Plan, flags: readonly string[]): Map<string, string> {
  const left = new Map<string, string>();
  if (!isSameRetry(retrying, flags)) return left;
  for (let row = 0; row < snapshot.count; row++) {
    const item = snapshot.id(row);
    const task = retrying.items.get(item);
    if (task === undefined) continue;
    const later = tasksFrom(snapshot.tasks, task).map((name) => snapshot.tasks.indexOf(name));
    if (later.some((position) => statusAt(snapshot, row, position) !== 'done')) left.set(item, task);
  }
  return left;
}

/** By item, the first task that failed. */
function firstTasks(failures: readonly Failure[]): Map<string, string> {
  const first = new Map<string, string>();
  for (const { item, task } of failures) if (!first.has(item)) first.set(item, task);
  return first;
}

type Plan = Awaited<ReturnType<typeof planRun>>;

/** In Task Order, and then by rows. */
function findFailures(history: History, { snapshot, selection }: Plan, wanted: string | undefined): Failure[] {
  const failures = cellsAt(snapshot, 'failed', selection).map(({ row, task }) => {
    const item = snapshot.id(row);
    return { row: row + 1, item, task, reason: history.of(task, item)?.failure ?? '' };
  });
  if (wanted === undefined) return failures;
  return failures.filter(({ reason }) => reason.toLowerCase().includes(wanted.toLowerCase()));
}

async function statusAndOutputsOf(files: Plan['files']): Promise<Set<string>> {
  const documents = await files.read();
  return new Set([...documents.tasks.map(({ name }) => name), ...[...outputsByTask(documents).values()].flat()]);
}

interface SettingBack {
  readonly io: Io;
  /** Of this command. */
  readonly flags: readonly string[];
  readonly keepLater?: boolean | undefined;
}

/** What is still failed of them, and what comes after it, in one write. */
async function setBack(
  paths: ShiftPaths,
  failures: readonly Failure[],
  { snapshot, files }: Plan,
  { io, flags, keepLater }: SettingBack,
): Promise<Reset> {
  const wanted = new Set(failures.map(({ item, task }) => `${task} ${item}`));
  const statusAndOutputs = await statusAndOutputsOf(files);
  return changeTable(
    paths,
    (table) => {
      const identities = identitiesOf(paths, table, statusAndOutputs);
      const isNamed = (row: number, task: string, status: Status) =>
        status === 'failed' && wanted.has(`${task} ${identities.id(row)}`);
      const rows = Array.from({ length: table.rowCount }, (_, row) => row);
      const change = resetRows({ paths, tasks: snapshot.tasks, statusAndOutputs }, table, { rows, isNamed, keepLater });
      return { ...change, retry: flags };
    },
    io.now,
  );
}

interface Found {
  readonly shift: string;
  readonly failures: readonly Failure[];
  /** Rows of the same retry that was interrupted. */
  readonly left: number;
  /** Item-tasks that could be begun besides. */
  readonly others: number;
}

function tell(io: Io, found: Found, json: boolean | undefined): number {
  if (json) {
    io.print(JSON.stringify(found));
    return EXIT.done;
  }
  const { failures, left, others } = found;
  for (const { row, task, reason } of failures)
    io.print(`row ${row} ${task}: ${oneLine(reason) || 'no reason recorded'}`);
  const back = `${count(failures.length, 'item-task')} would be reset to todo.`;
  const interrupted = left === 0 ? '' : ` ${count(left, 'row')} of the retry that was interrupted would be continued.`;
  const besides = others === 0 ? '' : ` With --all, ${count(others, 'other item-task')} would be run too.`;
  io.print(`${back}${interrupted}${besides} Nothing was written, no agent was started.`);
  return EXIT.done;
}
