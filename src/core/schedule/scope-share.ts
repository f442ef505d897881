import type { TaskCounts } from '../model/events.ts';
import { STATUSES } from '../model/status.ts';

export interface Share {
  readonly chosen: number;
  readonly all: number;
}

/** The scope of a run: the whole shift, or what `--rows`, `--where`, `--sample`, `--task` or `retry` chose. */
export interface ScopeShare {
  readonly items: Share;
  readonly tasks: Share;
  /** The chosen tasks. */
  readonly names: readonly string[];
}

/** From the first event of the run; in an older journal it may have no counts. */
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
