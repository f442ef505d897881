import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import { diskError } from '../store/folder/files/atomic-write.ts';
import { archiveFolder, shiftPaths } from '../store/folder/layout.ts';
import { type ArchivedShift, listArchived } from './archived-shifts.ts';
import { requireRoot } from './find-shift.ts';
import type { World } from './world.ts';

export interface UnarchivedShift {
  readonly shift: string;
  readonly folder: string;
  readonly from: string;
}

/**
 * Moves a shift back from `.nightshift/archive`. `wanted`: its name, or its folder in the archive. Of several with the
 * same name it takes the one that was archived last.
 */
export async function unarchiveShift(world: Pick<World, 'cwd'>, wanted: string): Promise<UnarchivedShift> {
  const root = requireRoot(world);
  const archived = listArchived(root);
  const found = archived.find(({ folder }) => folder === wanted) ?? archived.findLast(({ name }) => name === wanted);
  if (!found) throw notArchived(archived, wanted);
  const from = join(archiveFolder(root), found.folder);
  const { folder } = shiftPaths(root, found.name);
  if (existsSync(folder)) {
    const hint = `archive that one first: \`nightshift archive ${found.name}\``;
    throw new NightshiftError('usage', `there is already a shift ${found.name}`, hint, { file: folder });
  }
  try {
    await rename(from, folder);
  } catch (cause) {
    throw diskError(cause, folder);
  }
  return { shift: found.name, folder, from };
}

export function archivedNames(world: Pick<World, 'cwd'>): string[] {
  return [...new Set(listArchived(requireRoot(world)).map(({ name }) => name))];
}

function notArchived(archived: readonly ArchivedShift[], wanted: string): NightshiftError {
  const names = [...new Set(archived.map(({ name }) => name))];
  const near = nearest(wanted, names);
  const known = names.length > 0 ? `archived are: ${names.join(', ')}` : 'the archive is empty';
  const hint = near === undefined ? known : `did you mean ${near}?`;
  return new NightshiftError('not-found', `there is no archived shift ${JSON.stringify(wanted)}`, hint);
}
