import { NightshiftError } from '../../core/model/errors.ts';
import type { Action } from '../../core/page/action.ts';
import { actionCommand, rowsText } from '../../core/page/action-command.ts';
import { type LimitSettings, readLimits } from '../../core/schedule/budget.ts';
import { cellsAt, countEligible } from '../../core/schedule/plan.ts';
import { selectionFlags } from '../../core/schedule/selection.ts';
import { count } from '../../core/text/count.ts';
import { refuseSecondRun } from '../../store/folder/run-lock.ts';
import { limitReached, planRetry as planFailures } from '../retry.ts';
import { needsLimit } from '../run/ask-limit.ts';
import { planRun } from '../run/plan-run.ts';
import { runInBackground } from '../run/start-in-background.ts';
import type { ActingOn, PlannedAction } from './actions.ts';
import { chosenRows, numbersOf } from './chosen-rows.ts';
import { planReset } from './table-actions.ts';

type Of<V extends Action['verb']> = Extract<Action, { verb: V }>;

export async function planStart({ world, reading }: ActingOn, action: Of<'start'>): Promise<PlannedAction> {
  const { paths, name } = reading.place;
  refuseSecondRun(paths.runLock, name);
  const limits = limitsIn(action.maxCost);
  const flags = maxCostFlag(action.maxCost);
  const run = await planRun(paths, { limits }, world);
  const reached = limitReached({ run, history: reading.history }, { command: 'start', flags }, world.now());
  const left = countEligible(reading.snapshot) + cellsAt(reading.snapshot, 'qa').length;
  return {
    command: actionCommand(action, { shift: name, isRunning: false }),
    effect: raiseFirst(reached) ?? `Runs ${name} in the background: ${count(left, 'item-task')} can start now.`,
    ...(reached || (await needsLimit(paths, { limits }, world)) ? { needsLimit: true } : {}),
    carryOut: () => begin(world, name, ['start', name, ...flags]),
  };
}

/** While the shift runs, the run takes up what is reset. */
export async function planRetry(acting: ActingOn, action: Of<'retry'>): Promise<PlannedAction> {
  const { world, reading } = acting;
  const { paths, name } = reading.place;
  if (reading.holder) return planReset(acting, action, true);
  const { task, maxCost } = action;
  const numbers = failedRows(acting, action);
  const rows = numbers && rowsText(numbers);
  const flags = selectionFlags({ task, rows });
  const settings = { task, rows, limits: limitsIn(maxCost), flags };
  const plan = await planFailures(paths, settings, world);
  const { length: failures } = plan.failures;
  if (failures + plan.left.size === 0) throw new NightshiftError('nothing-to-do', `nothing of ${name} has failed`);
  const request = { command: 'retry' as const, flags: [...flags, ...maxCostFlag(maxCost)] };
  const reached = limitReached(plan, request, world.now());
  return {
    command: actionCommand(action, { shift: name, isRunning: false, ...(numbers ? { rows: numbers } : {}) }),
    effect:
      raiseFirst(reached) ??
      `Resets ${count(failures, 'failed item-task')}, with the later tasks of these rows, and runs them in the background.`,
    ...(reached || (await needsLimit(paths, { ...settings, toRetry: failures }, world)) ? { needsLimit: true } : {}),
    carryOut: () => begin(world, name, ['retry', name, ...request.flags]),
  };
}

/** What to say if a limit would end the run at once. The page asks for a higher one if it is about cost. */
function raiseFirst(reached: ReturnType<typeof limitReached>): string | undefined {
  if (!reached) return undefined;
  if (reached.key === 'max-cost') return `Nothing would run: ${reached.text}.`;
  throw new NightshiftError('usage', reached.text, `\`${reached.next.command}\` raises the limit`);
}

/** The chosen rows that have failed; undefined: all of them were chosen, or no rows. 1-based. */
function failedRows({ reading }: ActingOn, { rows, task }: Of<'retry'>): number[] | undefined {
  if (rows === undefined) return undefined;
  const failed = cellsAt(reading.snapshot, 'failed', { task, includes: () => true });
  const all = new Set(failed.map(({ row }) => row));
  const chosen = chosenRows(reading, rows).filter((row) => all.has(row));
  if (chosen.length === 0) throw new NightshiftError('nothing-to-do', 'none of these rows has failed');
  return chosen.length === all.size ? undefined : numbersOf(chosen);
}

/** In a process of its own, which no end of this one touches. */
async function begin(world: ActingOn['world'], name: string, words: readonly string[]): Promise<string> {
  const run = await runInBackground(world, words);
  return run ? `${name} runs in the background: process ${run.pid}.` : `Everything of ${name} is done.`;
}

function maxCostFlag(maxCost: string | undefined): string[] {
  return maxCost === undefined ? [] : [`--max-cost=${maxCost}`];
}

function limitsIn(maxCost: string | undefined): LimitSettings {
  return readLimits(
    (key) => (key === 'max-cost' ? maxCost : undefined),
    (key, problem, hint) => new NightshiftError('usage', `${key} ${JSON.stringify(maxCost)} ${problem}`, hint),
  );
}
