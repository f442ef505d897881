import type { GroupingAnswer } from '../learning/grouping.ts';
import type { LessonState } from '../learning/lesson.ts';
import type { Settings } from './model.ts';
import type { Shift, Task } from './shift.ts';

/**
 * The manager's question after a batch: which recommendations mean the same, and in which words. Plain JSON, as the
 * orders of dev and qa.
 */
export interface LessonOrder extends LessonQuestion {
  readonly role: 'manager';
  readonly shift: { readonly name: string };
  readonly task: string;
  /** The version of the Steps that may change. */
  readonly version: string;
  readonly settings: Settings;
}

export interface LessonQuestion {
  /** Those of the author, as they are in the task file, placeholders not filled in. */
  readonly steps: readonly string[];
  readonly lessons: readonly { readonly id: string; readonly state: LessonState; readonly text: string }[];
  /** The answer numbers them from 1. */
  readonly recommendations: readonly { readonly row: number; readonly text: string }[];
}

/** `proposal`: has the form of a report, and is not checked yet. `reason`: why there is no usable answer. */
export type LessonOutcome = { readonly role: 'manager' } & (
  | { readonly proposal: GroupingAnswer }
  | { readonly reason: string }
);

/** Without tools: everything that the answer needs is in the order. */
export function makeLessonOrder(shift: Pick<Shift, 'name'>, task: Task, question: LessonQuestion): LessonOrder {
  return {
    role: 'manager',
    shift: { name: shift.name },
    task: task.name,
    version: task.version,
    settings: { ...task.settings, tools: [] },
    ...question,
  };
}
