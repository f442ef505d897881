import { type Expenses, type Limits, limitsInForce, limitTexts, usedUp } from '../../core/schedule/budget.ts';
import { startSize } from '../../core/schedule/concurrency.ts';
import { chooseForDevs } from '../../core/schedule/next.ts';
import { cellsAt, countEligible, countItems } from '../../core/schedule/plan.ts';
import type { NextCommand, RunRequest } from '../../core/schedule/run-request.ts';
import type { Share } from '../../core/schedule/scope-share.ts';
import type { ResultsPlace } from '../../core/workspace/results.ts';
import { resultsIn } from '../../engine/access.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { readHistory, spentIn } from '../history.ts';
import { keptWorkspaceLines } from '../kept-workspaces.ts';
import { nextOfRequest } from '../next-command.ts';
import type { World } from '../world.ts';
import { findLeftItems } from './left-items.ts';
import { planRun, type RunSettings } from './plan-run.ts';
import { uncommittedLines } from './uncommitted.ts';
import { unprotectedFiles, unprotectedLine } from './unprotected-files.ts';

/** What a run would do. */
export interface DryRun {
  readonly warnings: readonly string[];
  /** The limits in words, with how much of each is used up. */
  readonly limitTexts: readonly string[];
  readonly next: NextCommand;
  /** What `--json` prints. */
  readonly plan: {
    readonly shift: string;
    readonly items: Share;
    readonly eligible: number;
    readonly atQa: number;
    readonly inProgress: number;
    /** Items in progress whose orders workers of the fleet may still have. */
    readonly adoptable: number;
    readonly first: { readonly task: string; readonly indices: readonly number[]; readonly size: number } | undefined;
    readonly limits: Limits;
    readonly spent: Expenses;
    /** The limit that is used up, in words. */
    readonly usedUp: string | null;
    /** Where results go; null: rows have no workspaces. */
    readonly results: ResultsPlace | null;
    readonly next: string;
  };
}

/** Makes the checks of a run and says what it would do first. Writes nothing and starts no agent. */
export async function dryRun(
  paths: ShiftPaths,
  settings: RunSettings & { readonly request: RunRequest },
  world: World,
): Promise<DryRun> {
  const { shift, snapshot, store, scope, hasModel } = await planRun(paths, settings, world);
  const unprotected = await unprotectedFiles(world, paths, { shift, snapshot });
  const now = world.now();
  const { parallel, sequence, limits: set } = shift.settings;
  const size = parallel ? startSize(shift.settings) : 1;
  const first = chooseForDevs({ board: snapshot, scope, sequence, room: size });
  const limits = limitsInForce(set, hasModel, now, snapshot.count);
  const history = await readHistory(paths, world);
  const spent = spentIn(history);
  const left = {
    eligible: countEligible(snapshot, scope),
    atQa: cellsAt(snapshot, 'qa', scope).length,
    inProgress: cellsAt(snapshot, 'in_progress').length,
  };
  const adoptable = settings.fleet ? (findLeftItems(snapshot, history)?.count ?? 0) : 0;
  const isLeft = left.eligible + left.atQa + left.inProgress > 0;
  const reached = isLeft ? usedUp(limits, spent, now) : undefined;
  const next = nextOfRequest(shift.name, settings.request, set, { history, now });
  return {
    warnings: [
      ...shift.warnings,
      ...unprotected.map(unprotectedLine),
      ...(await keptWorkspaceLines(paths, shift)),
      ...(await uncommittedLines(world, shift, store)),
    ],
    limitTexts: limitTexts(limits, spent, hasModel, now),
    next,
    plan: {
      shift: shift.name,
      items: { chosen: countItems(snapshot, scope.includes).total, all: snapshot.count },
      ...left,
      adoptable,
      first: first && { task: first.task, indices: first.rows, size },
      limits,
      spent,
      usedUp: reached?.text ?? null,
      results: resultsIn(shift) ?? null,
      next: next.command,
    },
  };
}
