import type { History } from '../core/folds/history.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { RowLabels } from '../core/model/row-labels.ts';
import type { Status } from '../core/model/status.ts';
import { type LimitKey, limitsInForce, usedUp } from '../core/schedule/budget.ts';
import { cellsAt, countEligible, statusAt, tasksFrom } from '../core/schedule/plan.ts';
import type { NextCommand, RunRequest } from '../core/schedule/run-request.ts';
import type { Selection } from '../core/schedule/selection.ts';
import { isSameRetry } from '../core/schedule/unfinished-retry.ts';
import { outputsByTask } from '../formats/compile.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { refuseSecondRun } from '../store/folder/run-lock.ts';
import { identitiesOf } from '../store/folder/table/identity-file.ts';
import { changeTable } from '../store/folder/table/table-change.ts';
import { type Reset, resetRows } from './edit/edit-items.ts';
import { readHistory, spentIn } from './history.ts';
import { nextOfRequest } from './next-command.ts';
import { planRun, type RunPlan, type RunSettings } from './run/plan-run.ts';
import type { World } from './world.ts';

/** Which failures to retry: all that is given must hold. */
export interface RetrySettings
  extends Pick<RunSettings, 'task' | 'rows' | 'agent' | 'model' | 'agents' | 'limits' | 'fleet' | 'withoutFleet'> {
  /** Text in the reason of the failure, in capitals or not. */
  readonly reason?: string | undefined;
  /** Also run everything else that is left. */
  readonly all?: boolean | undefined;
  /** Leave the later tasks of these items as they are. */
  readonly keepLater?: boolean | undefined;
  /** Names this retry: one with the same flags continues it after an interruption. */
  readonly flags: readonly string[];
}

interface Failure {
  /** 1-based. */
  readonly row: number;
  /** The row's name, if it has one. */
  readonly label: string | undefined;
  readonly item: string;
  readonly task: string;
  readonly reason: string;
}

export interface RetryPlan {
  /** In Task Order, and then by rows. */
  readonly failures: readonly Failure[];
  /** Of the same retry that was interrupted: by item, from which task on. */
  readonly left: ReadonlyMap<string, string>;
  /** Item-tasks that could start besides. */
  readonly others: number;
  readonly run: RunPlan;
  readonly history: History;
}

/** Nothing is reset while the shift runs. */
export function refuseWhileRunning({ runLock, name }: ShiftPaths): void {
  refuseSecondRun(runLock, name);
}

/**
 * Checks everything as a run does and finds what to retry. Writes nothing. Throws if nothing matches what was chosen.
 */
export async function planRetry(paths: ShiftPaths, settings: RetrySettings, world: World): Promise<RetryPlan> {
  const { reason, task, rows, agent, model, agents, limits = {}, all, flags, fleet, withoutFleet } = settings;
  const run = await planRun(paths, { agent, model, agents, task, rows, limits, fleet, withoutFleet }, world);
  const history = await readHistory(paths, world);
  const failures = findFailures(history, run, reason);
  const left = leftOf(history, run, flags);
  const isChosen = [reason, task, rows].some((each) => each !== undefined);
  if (failures.length + left.size === 0 && !all && isChosen) {
    const hint = `\`nightshift status ${paths.name}\` lists the failures`;
    throw new NightshiftError('nothing-to-do', `no failure of ${paths.name} matches`, hint);
  }
  return { failures, left, others: countEligible(run.snapshot), run, history };
}

/** The limit that would end the run at once, in words, and the command that raises it; undefined: there is none. */
export function limitReached(
  { run, history }: Pick<RetryPlan, 'run' | 'history'>,
  request: RunRequest,
  now: number,
): { readonly key: LimitKey; readonly text: string; readonly next: NextCommand } | undefined {
  const { limits } = run.shift.settings;
  const reached = usedUp(limitsInForce(limits, false, now), spentIn(history), now);
  if (!reached) return undefined;
  return {
    key: reached.key,
    text: reached.text,
    next: nextOfRequest(run.shift.name, request, limits, { history, now }),
  };
}

/** Resets to `todo` what is still failed of the plan, and the later tasks of these items, in one write. */
export async function resetFailures(
  paths: ShiftPaths,
  { failures, run }: RetryPlan,
  { flags, keepLater }: RetrySettings,
  world: Pick<World, 'now'>,
): Promise<Reset> {
  const wanted = new Set(failures.map(({ item, task }) => `${task} ${item}`));
  const documents = await run.files.read();
  const tasks = documents.tasks.map(({ name }) => name);
  const statusAndOutputs = new Set([...tasks, ...[...outputsByTask(documents).values()].flat()]);
  return changeTable(
    paths,
    (table) => {
      const identities = identitiesOf(paths, table, statusAndOutputs);
      const isNamed = (row: number, task: string, status: Status) =>
        status === 'failed' && wanted.has(`${task} ${identities.id(row)}`);
      const rows = Array.from({ length: table.rowCount }, (_, row) => row);
      const open = { paths, tasks: run.snapshot.tasks, statusAndOutputs };
      return { ...resetRows(open, table, { rows, isNamed, keepLater }), retry: flags };
    },
    world.now,
  );
}

/** What the run covers: the failures and the tasks after them, or with `all` everything. */
export function retrySelection({ failures, left }: RetryPlan, { all }: RetrySettings): Selection {
  if (all) return {};
  const first = new Map<string, string>();
  for (const { item, task } of failures) if (!first.has(item)) first.set(item, task);
  return { items: Object.fromEntries([...left, ...first]) };
}

function findFailures(history: History, { shift, snapshot, scope }: RunPlan, wanted: string | undefined): Failure[] {
  const labelOf = RowLabels.in(shift, snapshot);
  const failures = cellsAt(snapshot, 'failed', scope).map(({ row, task }) => {
    const item = snapshot.id(row);
    return { row: row + 1, label: labelOf(row), item, task, reason: history.of(task, item)?.failure ?? '' };
  });
  if (wanted === undefined) return failures;
  return failures.filter(({ reason }) => reason.toLowerCase().includes(wanted.toLowerCase()));
}

function leftOf({ retrying }: History, { snapshot }: RunPlan, flags: readonly string[]): Map<string, string> {
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
