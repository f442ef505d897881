import type { LessonChange, LessonLedger } from './lesson.ts';

export interface Reconciled {
  /** With `inSteps` as it is after `steps` were written: write it after them. */
  readonly ledger: LessonLedger;
  /** What the Steps should be; the same texts if nothing is to be written. */
  readonly steps: readonly string[];
  readonly changes: readonly LessonChange[];
}

/**
 * Compares the lessons of a task with its Steps. What a crash left half done is finished; what a person edited wins.
 * Call it at start, before each fold, and after each change of the ledger.
 */
export function reconcile(
  _ledger: LessonLedger,
  _at: { readonly task: string; readonly steps: readonly string[]; readonly now: string },
): Reconciled {
  throw new Error('comes soon');
}

/** The Steps without lessons. */
export function authorSteps(_ledger: LessonLedger, _task: string, _steps: readonly string[]): string[] {
  throw new Error('comes soon');
}

/** The lessons in the Steps, with the number of their step (from 1). */
export function lessonsIn(
  _ledger: LessonLedger,
  _task: string,
  _steps: readonly string[],
): { readonly id: string; readonly step: number; readonly text: string }[] {
  throw new Error('comes soon');
}
