import type { TaskCounts } from '../model/events.ts';
import { STATUSES, type Status } from '../model/status.ts';

/** Item-tasks by status. `blocked` counts the `todo` that can't be reached. */
export class StatusCounts implements Record<Status, number> {
  todo = 0;
  in_progress = 0;
  qa = 0;
  done = 0;
  failed = 0;
  blocked = 0;

  constructor(tasks: readonly TaskCounts[] = []) {
    for (const each of tasks) for (const key of [...STATUSES, 'blocked'] as const) this[key] += each[key];
  }

  get total(): number {
    return STATUSES.reduce((all, status) => all + this[status], 0);
  }

  /** Those that have not ended and can be reached. */
  get remaining(): number {
    return Math.max(0, this.todo - this.blocked) + this.in_progress + this.qa;
  }

  /** A status of a journal may be anything. */
  move(from: Status, to: Status | null): void {
    if (this[from] > 0) this[from]--;
    if (to !== null && STATUSES.includes(to)) this[to]++;
  }
}
