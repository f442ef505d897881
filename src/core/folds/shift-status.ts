import type { Counts } from '../model/events.ts';
import type { Limits } from '../schedule/budget.ts';
import type { NextCommand } from '../schedule/run-request.ts';
import type { KeptWorkspaces } from '../workspace/kept.ts';
import type { ResultsPlace } from '../workspace/results.ts';
import type { LastRun } from './last-run.ts';
import type { Learning } from './learning.ts';
import type { Summary, WorkerItems } from './summary.ts';

/** Everything that `status` tells about a shift. */
export interface ShiftStatus extends Summary {
  readonly shift: string;
  /** The process that runs it now. */
  readonly running: { readonly pid: number; readonly since: string; readonly run: string } | null;
  /** What runs on each worker of a fleet; absent without one. */
  readonly workers?: readonly WorkerItems[];
  /** The pause stands until `resume`, with or without a run. `now`: running items were given back. */
  readonly paused: { readonly since: string; readonly now: boolean } | null;
  /** `end` is null during the run. It stays null if the run was killed or could not record its end. */
  readonly lastRun: (Omit<LastRun, 'end'> & { readonly end: LastRun['end'] | null }) | null;
  /** A batch that was opened by hand. */
  readonly batch: OpenBatch | null;
  /** Documents with an edit that was put back and is not accepted yet. */
  readonly putBack: readonly string[];
  /** The active time of all runs. */
  readonly ms: number;
  readonly limits: Limits;
  readonly learning: Learning;
  /** Where results go; null: rows have no workspaces. */
  readonly results: ResultsPlace | null;
  readonly workspaces: KeptWorkspaces;
  /** Continues the last run, or retries what failed. Null while a run or a batch is open, and if nothing is left. */
  readonly next: NextCommand | null;
}

interface OpenBatch {
  readonly task: string;
  readonly items: number;
  readonly opened: string;
  readonly isStale: boolean;
}

/** One shift in a list: how far it is, or why that can't be told. */
export type ShiftDescription =
  | {
      readonly name: string;
      readonly counts: Counts;
      readonly tasks: number;
      readonly running: boolean;
      /** A batch was opened by hand, and its program has given a sign of life lately. */
      readonly hasOpenBatch: boolean;
      readonly workspaces: KeptWorkspaces;
    }
  | { readonly name: string; readonly problem: string };
