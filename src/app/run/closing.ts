import type { LastRun } from '../../core/folds/last-run.ts';
import type { Learning } from '../../core/folds/learning.ts';
import { type Summary, summarise } from '../../core/folds/summary.ts';
import { EXIT } from '../../core/model/errors.ts';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { NextCommand } from '../../core/schedule/run-request.ts';
import type { KeptWorkspaces } from '../../core/workspace/kept.ts';
import type { ResultsPlace } from '../../core/workspace/results.ts';
import { resultsIn } from '../../engine/access.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { readHistory } from '../history.ts';
import { countKept } from '../kept-workspaces.ts';
import { readLearning } from '../lessons/list-lessons.ts';
import { nextAfterLastRun } from '../next-command.ts';
import { openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { overridesIn, type RunSettings } from './plan-run.ts';
import type { EndedRun } from './run-shift.ts';

/** Where a shift stands after a run. */
export interface Closing {
  readonly summary: Summary;
  readonly learning: Learning;
  readonly lastRun: LastRun | undefined;
  /** The active time of all runs. */
  readonly shiftMs: number;
  readonly next: NextCommand | undefined;
  readonly workspaces: KeptWorkspaces;
  readonly results: ResultsPlace | undefined;
}

/** Undefined if a run that was stopped left a shift that can't be read: the run's own reason then says why. */
export async function readClosing(
  paths: ShiftPaths,
  { exitCode }: EndedRun,
  settings: RunSettings,
  world: World,
): Promise<Closing | undefined> {
  try {
    const { shift, snapshot } = await openAndCheck(paths, overridesIn(settings));
    const history = await readHistory(paths, world);
    const summary = summarise(snapshot, history, RowLabels.in(shift, snapshot));
    const { limits } = shift.settings;
    const known = { shift: paths.name, history, limits, counts: summary.counts, now: world.now() };
    const learning = readLearning(shift, { items: snapshot, history, now: world.now() });
    const { lastRun } = history;
    const workspaces = await countKept(paths, snapshot);
    const next = nextAfterLastRun(known);
    const results = resultsIn(shift);
    return { summary, learning, lastRun, shiftMs: history.tally.ms, next, workspaces, results };
  } catch (error) {
    if (exitCode === EXIT.stopped || exitCode === EXIT.interrupted) return undefined;
    throw error;
  }
}
