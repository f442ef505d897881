import type { History } from '../core/folds/history.ts';
import { EXIT } from '../core/model/errors.ts';
import type { LimitSettings } from '../core/schedule/budget.ts';
import { readLimitWords } from '../core/schedule/limit-words.ts';
import { countItems } from '../core/schedule/plan.ts';
import { type NextCommand, nextCommand, type RunRequest } from '../core/schedule/run-request.ts';
import { selectionFlags } from '../core/schedule/selection.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { readHistory, spentIn } from './history.ts';
import { openAndCheck } from './open-shift.ts';
import type { World } from './world.ts';

/** What has to be known about a shift before a command is suggested. */
interface Known {
  readonly shift: string;
  readonly history: History;
  /** Of `manager.md`. */
  readonly limits: LimitSettings;
  readonly counts: { readonly failed: number; readonly remaining: number };
  readonly now: number;
}

/** After the last run, as the journal tells of it; undefined where there is nothing to suggest. */
export function nextAfterLastRun({ shift, history, limits, counts, now }: Known): NextCommand | undefined {
  const { lastRun } = history;
  if (!lastRun) return undefined;
  const { end, command = 'start', selection = {}, flags = selectionFlags(selection) } = lastRun;
  const hasFinished = end?.exitCode === EXIT.done || end?.exitCode === EXIT.failedItems;
  const at = Math.max(now, Date.parse(end?.notBefore ?? '') || 0);
  const { usage, ms, failures } = spentIn(history);
  return nextCommand({
    shift,
    request: { command, flags },
    limits: { ...limits, ...readLimitWords(flags) },
    spent: { usage, ms: ms + at - now, failures },
    at,
    isStopped: !hasFinished && counts.remaining > 0,
    hasLeft: end?.left !== undefined,
    failed: counts.failed,
  });
}

/** For a command that has not read the shift. What can't be read is not known to limit anything. */
export async function findNext(paths: ShiftPaths, world: Pick<World, 'env' | 'now'>): Promise<NextCommand | undefined> {
  const history = await readHistory(paths, world);
  const now = world.now();
  const shift = paths.name;
  const found = await openAndCheck(paths).catch(() => undefined);
  if (!found) return nextAfterLastRun({ shift, history, limits: {}, counts: { failed: 0, remaining: 1 }, now });
  const { limits } = found.shift.settings;
  return nextAfterLastRun({ shift, history, limits, counts: countItems(found.snapshot), now });
}

/** What continues, or would begin, a run that was asked for just now. `limits`: with those of the request. */
export function nextOfRequest(
  shift: string,
  request: RunRequest,
  limits: LimitSettings,
  { history, now }: { readonly history: History; readonly now: number },
): NextCommand {
  return nextCommand({ shift, request, limits, spent: spentIn(history), at: now, isStopped: true, failed: 0 })!;
}
