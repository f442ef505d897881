import type { Status } from '../model/status.ts';

/** One task of an item, in Task Order: where it is, and whether it was named. */
export interface TaskState {
  readonly status: Status;
  readonly isNamed: boolean;
}

/**
 * Rule T1: which tasks of one item go back to `todo`, by their place in the Task Order. What comes after a named task
 * rests on its result, so it goes back too, unless later tasks are to be kept.
 */
export function tasksToReset(tasks: readonly TaskState[], keepLater = false): number[] {
  const first = tasks.findIndex(({ isNamed }) => isNamed);
  return tasks.flatMap(({ status, isNamed }, i) => {
    const isMeant = isNamed || (!keepLater && first >= 0 && i > first);
    return isMeant && status !== 'todo' ? [i] : [];
  });
}

/** How many cells of which tasks, in Task Order; tasks without any are left out. */
export function countByTask(order: readonly string[], reset: readonly string[]): Record<string, number> {
  const counts = order.map((task): [string, number] => [task, reset.filter((each) => each === task).length]);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
