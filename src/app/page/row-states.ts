import { STATUSES } from '../../core/model/status.ts';
import type { RowFilter } from '../../core/page/row-query.ts';
import type { ShiftReading } from './shift-reader.ts';

const TODO = STATUSES.indexOf('todo');
const FAILED = STATUSES.indexOf('failed');

/** At `todo` behind an earlier task of the row that failed (rule M4). */
export function isBlockedAt(columns: readonly Uint8Array[], row: number, task: number): boolean {
  if (columns[task]![row] !== TODO) return false;
  for (let earlier = 0; earlier < task; earlier++) if (columns[earlier]![row] === FAILED) return true;
  return false;
}

/** For each filter, how many rows have one of these tasks in that state. A row counts once. */
export function countRows(
  { snapshot: { columns, count }, held }: Pick<ShiftReading, 'snapshot' | 'held'>,
  tasks: readonly number[],
): Readonly<Record<RowFilter, number>> {
  const blocked = STATUSES.length;
  const counts = new Uint32Array(blocked + 1);
  for (let row = 0; row < count; row++) {
    let states = 0;
    for (const task of tasks) {
      states |= 1 << columns[task]![row]!;
      if (isBlockedAt(columns, row, task)) states |= 1 << blocked;
    }
    for (let state = 0; state < counts.length; state++) if ((states >> state) & 1) counts[state]!++;
  }
  const [todo = 0, in_progress = 0, qa = 0, done = 0, failed = 0] = counts;
  return { todo, in_progress, qa, done, failed, blocked: counts[blocked]!, held: held.length };
}
