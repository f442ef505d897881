import type { Result } from '../../core/folds/results.ts';
import type { RunAccount, Turn } from '../../core/folds/run-account.ts';
import type { ShiftStatus } from '../../core/folds/shift-status.ts';
import type { FailureGroup } from '../../core/folds/summary.ts';
import type { ChartsAnswer } from '../../core/page/history-answers.ts';

/** Everything that the report of a shift shows. Its texts are masked, and not safe for HTML. */
export interface Report {
  /** When it was made: milliseconds since 1970. */
  readonly at: number;
  readonly status: ShiftStatus;
  /** The limits in words, with how much of each is used up. */
  readonly limits: readonly string[];
  /** What happened in the last run; undefined if there was none. */
  readonly account: RunAccount | undefined;
  /** What ended otherwise than in the run before. Empty if there was none. */
  readonly newlyFailing: readonly Turn[];
  readonly passingAgain: readonly Turn[];
  /** What needs a person, the largest group first. */
  readonly groups: readonly ReportGroup[];
  /** The Steps of tasks that changed in the run: lines of a diff. */
  readonly steps: readonly { readonly task: string; readonly lines: readonly string[] }[];
  readonly charts: ChartsAnswer;
  readonly table: ReportTable;
  /** Names and values: versions, agents, hashes of files. */
  readonly provenance: readonly (readonly [name: string, value: string])[];
}

export interface ReportGroup extends FailureGroup {
  /** At most three. */
  readonly examples: readonly Excerpt[];
}

/** What an item-task left behind. */
export interface Excerpt {
  /** 1-based. */
  readonly row: number;
  readonly label: string | undefined;
  readonly reason: string;
  /** The end of what its agent said and printed; empty if there is no transcript. */
  readonly output: string;
}

export interface ReportTable {
  /** The columns that hold no status. */
  readonly columns: readonly string[];
  readonly tasks: readonly string[];
  readonly count: number;
  /** Made while they are read, so that a table of any length fits. */
  rows(): Iterable<ReportRow>;
}

export interface ReportRow {
  /** 1-based. */
  readonly row: number;
  readonly label: string | undefined;
  /** In the order of the columns. */
  readonly cells: readonly string[];
  /** In Task Order. */
  readonly results: readonly Result[];
  /** The end of what the agent of the last begun task said; undefined: not read, because there are too many. */
  readonly output: string | undefined;
}
