import type { Recommendation } from '../model/events.ts';
import type { Grouping } from './grouping.ts';
import type { LessonChange, LessonLedger } from './lesson.ts';

export type LessonMode = 'eager' | 'careful' | 'off';

/** For the lessons of one task: how many, and how many bytes of text. */
export interface LessonBudget {
  readonly lessons: number;
  readonly bytes: number;
}

/** A recommendation of an item that passed (rule L1), and who made it. */
export interface FoldedRecommendation extends Recommendation {
  readonly at: string;
  readonly agent: string;
  readonly model?: string;
}

export interface LessonVote {
  readonly item: string;
  readonly row: number;
  readonly at: string;
  /** The id of the lesson. */
  readonly lesson: string;
  readonly effect: 'helped' | 'harmed';
  readonly reason: string;
}

export interface FoldInput {
  readonly task: string;
  readonly mode: LessonMode;
  readonly budget: LessonBudget;
  /** ISO; not before any `at`. */
  readonly now: string;
  readonly recommendations: readonly FoldedRecommendation[];
  readonly votes: readonly LessonVote[];
  /** How the manager's agent groups the recommendations, as `readGrouping` returns it. */
  readonly grouping?: Grouping;
  /** Why a lesson is held; `others` are the lessons that would stand beside it. */
  readonly screen: (text: string, others: readonly string[]) => string | undefined;
  /** The Steps without lessons, as `authorSteps` returns them. */
  readonly authorSteps: readonly string[];
}

export interface Folded {
  readonly ledger: LessonLedger;
  readonly changes: readonly LessonChange[];
}

/**
 * The lessons after the reports of a batch. Folding the same reports again changes nothing, and their order does not
 * matter. `reconcile` then brings the Steps in line.
 */
export function foldReports(_ledger: LessonLedger, _input: FoldInput): Folded {
  throw new Error('comes soon');
}
