import type { TaskCounts } from '../model/events.ts';
import { STATUSES } from '../model/status.ts';

export interface Share {
  readonly chosen: number;
  readonly all: number;
}

/** What a run is about: all of a shift, or what `--rows`, `--where`, `--sample`, `--task` or `retry` chose. */
export interface ScopeShare {
  readonly items: Share;
  readonly tasks: Share;
  /** Of the tasks that were chosen. */
  readonly names: readonly string[];
}

/** As the first event of the run tells it; that of an earlier version may have no counts. */
export function scopeShareOf({ total, tasks, counts = [] }: Started): ScopeShare {
  const [first] = counts;
  const names = first ? counts.map(({ task }) => task) : tasks;
  const items = first ? STATUSES.reduce((sum, status) => sum + first[status], 0) : total;
  return { items: { chosen: items, all: total }, tasks: { chosen: names.length, all: tasks.length }, names };
}

interface Started {
  readonly total: number;
  readonly tasks: readonly string[];
  readonly counts?: readonly TaskCounts[];
}

export function isAll({ chosen, all }: Share): boolean {
  return chosen >= all;
}
