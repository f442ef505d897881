import type { LessonLedger } from './lesson.ts';
import type { FoldedRecommendation } from './policy.ts';

/** The answer of the manager's agent: which recommendations say the same, and in which words. */
export interface GroupingAnswer {
  readonly lessons: readonly {
    readonly text: string;
    /** Numbers of recommendations, from 1, in the order of `numbered`. */
    readonly from: readonly number[];
    /** The id of a lesson that already says it. */
    readonly same_as: string | null;
    /** The author's step it comes after. */
    readonly after: number | null;
  }[];
  readonly summary: string;
}

/** A validated answer. */
export interface Grouping {
  readonly groups: readonly {
    readonly text: string;
    readonly members: readonly FoldedRecommendation[];
    readonly sameAs?: string;
    readonly after?: number;
  }[];
}

/** The order in which recommendations are shown and numbered. */
export function numbered(_recommendations: readonly FoldedRecommendation[]): FoldedRecommendation[] {
  throw new Error('comes soon');
}

/** Whether there is anything for the manager's agent to group. */
export function needsGrouping(
  _ledger: LessonLedger,
  _task: string,
  _recommendations: readonly FoldedRecommendation[],
): boolean {
  throw new Error('comes soon');
}

/** The usable answer, or why it is refused as a whole. */
export function readGrouping(
  _answer: GroupingAnswer,
  _context: {
    readonly ledger: LessonLedger;
    readonly task: string;
    readonly recommendations: readonly FoldedRecommendation[];
    readonly authorSteps: readonly string[];
  },
): Grouping | { readonly refused: string } {
  throw new Error('comes soon');
}
