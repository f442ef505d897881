import type { ShiftDescription } from '../core/folds/shift-status.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { countItems } from '../core/schedule/plan.ts';
import { isStale, readBatch } from '../store/folder/batch-file.ts';
import { listShifts, openShift } from '../store/folder/layout.ts';
import { currentHolder } from '../store/folder/run-lock.ts';
import { countKept } from './kept-workspaces.ts';
import { openAndCheck } from './open-shift.ts';

/** All shifts of a project. A problem with one does not hide the others. */
export function describeShifts(root: string, now: number): Promise<ShiftDescription[]> {
  return Promise.all(listShifts(root).map((name) => describeShift(root, name, now)));
}

async function describeShift(root: string, name: string, now: number): Promise<ShiftDescription> {
  try {
    const paths = openShift(root, name);
    const { snapshot } = await openAndCheck(paths);
    const running = currentHolder(paths.runLock) !== undefined;
    const batch = readBatch(paths);
    const hasOpenBatch = batch !== undefined && !isStale(batch, now);
    const workspaces = await countKept(paths, snapshot);
    return { name, counts: countItems(snapshot), tasks: snapshot.tasks.length, running, hasOpenBatch, workspaces };
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return { name, problem: error.message };
  }
}
