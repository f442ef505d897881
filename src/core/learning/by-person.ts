import type { LessonChange, LessonLedger } from './lesson.ts';

/** Write the ledger, then `reconcile` the Steps. `refused`: why it makes no sense. */
export type Decision = { readonly ledger: LessonLedger; readonly change: LessonChange } | { readonly refused: string };

export type PersonsVerb = 'accept' | 'reject' | 'pin' | 'ban' | 'undo';

/** What a person decides about a lesson. `ban` of a lesson may give a `reason`. */
export function decide(
  _ledger: LessonLedger,
  _verb: PersonsVerb,
  _id: string,
  _more: { readonly now: string; readonly reason?: string },
): Decision {
  throw new Error('comes soon');
}

interface NewLesson {
  readonly task: string;
  readonly text: string;
  readonly now: string;
  readonly authorSteps: readonly string[];
}

/** `lessons add`: firm at once. */
export function addLesson(_ledger: LessonLedger, _lesson: NewLesson): Decision {
  throw new Error('comes soon');
}

/** `create --lessons-from`: waits, with the shift it comes from. */
export function adoptLesson(_ledger: LessonLedger, _lesson: NewLesson & { readonly from: string }): Decision {
  throw new Error('comes soon');
}
