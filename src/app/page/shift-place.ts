import { NightshiftError } from '../../core/model/errors.ts';
import type { ShiftId } from '../../core/page/answers.ts';
import { listShifts, openArchived, openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { archivedAs, listArchived } from '../archived-shifts.ts';

const ARCHIVE = 'archive/';

/** A shift as the page names it. */
export interface ShiftName {
  readonly id: ShiftId;
  readonly name: string;
  readonly isArchived: boolean;
}

/** Those of the project, then the archived ones, the latest first. */
export function listShiftNames(root: string): ShiftName[] {
  const archived = listArchived(root)
    .reverse()
    .map(({ name, folder }) => ({ id: `${ARCHIVE}${folder}`, name, isArchived: true }));
  return [...listShifts(root).map((name) => ({ id: name, name, isArchived: false })), ...archived];
}

export interface ShiftPlace extends ShiftName {
  readonly paths: ShiftPaths;
}

/** Throws if it is not there, or not a folder of its own. */
export function findShiftPlace(root: string, id: ShiftId): ShiftPlace {
  if (!id.startsWith(ARCHIVE)) return { id, name: id, isArchived: false, paths: openShift(root, id) };
  const wanted = id.slice(ARCHIVE.length);
  const found = archivedAs(root, wanted);
  if (!found) throw new NightshiftError('not-found', `there is no archived shift ${JSON.stringify(wanted)}`);
  const { name, folder } = found;
  return { id, name, isArchived: true, paths: openArchived(root, name, folder) };
}
