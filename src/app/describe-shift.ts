import { NightshiftError } from '../core/model/errors.ts';
import type { Counts } from '../core/model/events.ts';
import { countItems } from '../core/schedule/plan.ts';
import { isStale, readBatch } from '../store/folder/batch-file.ts';
import { openShift } from '../store/folder/layout.ts';
import { currentHolder } from '../store/folder/run-lock.ts';
import { openAndCheck } from './open-shift.ts';

/** A shift in a list: how far it is, or why nobody can say. */
export type Description =
  | {
      readonly name: string;
      readonly counts: Counts;
      readonly tasks: number;
      readonly running: boolean;
      /** One that was opened by hand, and of which something was heard lately. */
      readonly hasOpenBatch: boolean;
    }
  | { readonly name: string; readonly problem: string };

/** One shift with a problem must not hide the others. */
export async function describeShift(root: string, name: string, now: number): Promise<Description> {
  try {
    const paths = openShift(root, name);
    const { snapshot } = await openAndCheck(paths);
    const running = currentHolder(paths.runLock) !== undefined;
    const batch = readBatch(paths);
    const hasOpenBatch = batch !== undefined && !isStale(batch, now);
    return { name, counts: countItems(snapshot), tasks: snapshot.tasks.length, running, hasOpenBatch };
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return { name, problem: error.message };
  }
}

export function descriptionLines(shifts: readonly Description[]): string[] {
  const width = Math.max(0, ...shifts.map(({ name }) => name.length));
  return shifts.map((shift) => {
    const name = shift.name.padEnd(width);
    if ('problem' in shift) return `${name}  ${shift.problem}`;
    const { completed, total, failed } = shift.counts;
    const now = shift.running ? ', running' : shift.hasOpenBatch ? ', a batch is open' : '';
    return `${name}  ${completed}/${total} completed, ${failed} failed${now}`;
  });
}
