import type { Status } from '../model/status.ts';

/** One task of an item, in Task Order: its status, and whether it was named. */
export interface TaskState {
  readonly status: Status;
  readonly isNamed: boolean;
}

/**
 * Rule T1: which tasks of one item go back to `todo`, by position in the Task Order. Tasks after a named one depend
 * on its result, so they go back too, unless later tasks are kept.
 */
export function tasksToReset(tasks: readonly TaskState[], keepLater = false): number[] {
  const first = tasks.findIndex(({ isNamed }) => isNamed);
  return tasks.flatMap(({ status, isNamed }, i) => {
    const isMeant = isNamed || (!keepLater && first >= 0 && i > first);
    return isMeant && status !== 'todo' ? [i] : [];
  });
}

/** How many cells of each task, in Task Order, leaving out tasks without any. */
export function countByTask(taskOrder: readonly string[], reset: readonly string[]): Record<string, number> {
  const counts = taskOrder.map((task): [string, number] => [task, reset.filter((each) => each === task).length]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
