import type { StepChange } from '../learning/lessons.ts';
import type { Recommendation } from './events.ts';
import type { Settings } from './model.ts';
import type { Shift, Task } from './shift.ts';

/**
 * The manager's question after a batch: which changes of the Steps follow from these recommendations. Plain JSON, as
 * the orders of dev and qa.
 */
export interface LessonOrder {
  readonly role: 'manager';
  readonly shift: { readonly name: string };
  readonly task: string;
  /** The version of the Steps that may change. */
  readonly version: string;
  readonly settings: Settings;
  /** As they are in the task file, placeholders not filled in. */
  readonly steps: readonly string[];
  readonly recommendations: readonly Recommendation[];
}

/** What the agent proposes: changes that have the form of a report, and are not checked against rule L3 yet. */
export interface LessonProposal {
  readonly changes: readonly StepChange[];
  readonly summary: string;
}

/** `reason`: why there is no usable answer. */
export type LessonOutcome = { readonly role: 'manager' } & (
  | { readonly proposal: LessonProposal }
  | { readonly reason: string }
);

/** Without tools: everything that the answer needs is in the order. */
export function makeLessonOrder(
  shift: Pick<Shift, 'name'>,
  task: Task,
  recommendations: readonly Recommendation[],
): LessonOrder {
  return {
    role: 'manager',
    shift: { name: shift.name },
    task: task.name,
    version: task.version,
    settings: { ...task.settings, tools: [] },
    steps: task.stepTexts,
    recommendations,
  };
}
