import type { ShiftDescription } from '../core/folds/shift-status.ts';

export function shiftListLines(shifts: readonly ShiftDescription[]): string[] {
  const width = Math.max(0, ...shifts.map(({ name }) => name.length));
  return shifts.map((shift) => {
    const name = shift.name.padEnd(width);
    if ('problem' in shift) return `${name}  ${shift.problem}`;
    const { completed, total, failed } = shift.counts;
    const now = shift.running ? ', running' : shift.hasOpenBatch ? ', a batch is open' : '';
    return `${name}  ${completed}/${total} completed, ${failed} failed${now}`;
  });
}
