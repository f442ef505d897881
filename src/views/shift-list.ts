import type { ShiftDescription } from '../core/folds/shift-status.ts';
import { keptLines } from './kept-workspaces.ts';

export function shiftListLines(shifts: readonly ShiftDescription[]): string[] {
  const width = Math.max(0, ...shifts.map(({ name }) => name.length));
  return shifts.flatMap((shift) => {
    const name = shift.name.padEnd(width);
    if ('problem' in shift) return [`${name}  ${shift.problem}`];
    const { completed, total, failed } = shift.counts;
    const now = shift.running ? ', running' : shift.hasOpenBatch ? ', a batch is open' : '';
    const left = keptLines(shift.name, shift.workspaces, shift.running);
    return [`${name}  ${completed}/${total} completed, ${failed} failed${now}`, ...left.map((line) => `  ${line}`)];
  });
}
