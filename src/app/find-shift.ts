import { NightshiftError } from '../core/model/errors.ts';
import { findRoot, listShifts, openShift, type ShiftPaths } from '../store/folder/layout.ts';
import type { World } from './world.ts';

export type { ShiftPaths } from '../store/folder/layout.ts';

type Place = Pick<World, 'cwd'>;

/** The project: the nearest folder, from the current one upwards, that has a `.nightshift`. */
export function requireRoot({ cwd }: Place): string {
  const root = findRoot(cwd);
  if (root !== undefined) return root;
  throw new NightshiftError(
    'not-found',
    `there is no .nightshift folder in ${cwd} or above it`,
    '`nightshift create NAME` creates one with a first shift, `nightshift demo` shows an example',
  );
}

/** The shifts of the project; none if there is no project. */
export function shiftNames({ cwd }: Place): string[] {
  const root = findRoot(cwd);
  return root === undefined ? [] : listShifts(root);
}

/** The named shift. Without a name, the only shift of the project. */
export function findShift(place: Place, name?: string): ShiftPaths {
  const root = requireRoot(place);
  if (name !== undefined) return openShift(root, name);
  const shifts = listShifts(root);
  if (shifts.length === 1) return openShift(root, shifts[0]!);
  if (shifts.length === 0) {
    throw new NightshiftError('not-found', 'there is no shift yet', '`nightshift create NAME` creates one');
  }
  throw new NightshiftError('usage', 'there are several shifts', `name one of: ${shifts.join(', ')}`);
}
