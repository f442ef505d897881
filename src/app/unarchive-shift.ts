import { existsSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import { parseManager } from '../formats/manager.ts';
import { readDocument } from '../store/folder/documents/document-text.ts';
import { diskError } from '../store/folder/files/atomic-write.ts';
import { archiveFolder, shiftPaths } from '../store/folder/layout.ts';
import { requireRoot } from './find-shift.ts';
import type { World } from './world.ts';

interface ArchivedShift {
  readonly name: string;
  /** Its folder in the archive: `2026-11-17-site`. */
  readonly folder: string;
}

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

/** In the order in which they were archived: by date, then by number. */
function listArchived(root: string): ArchivedShift[] {
  const archive = archiveFolder(root);
  if (!existsSync(archive)) return [];
  return readdirSync(archive, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ARCHIVED.test(entry.name))
    .map(({ name: folder }) => ({
      folder,
      name: nameIn(join(archive, folder, 'manager.md')) ?? ARCHIVED.exec(folder)![1]!,
    }))
    .sort((a, b) => a.folder.localeCompare(b.folder, 'en', { numeric: true }));
}

const ARCHIVED = /^\d{4}-\d\d-\d\d-([a-z0-9-]+)$/;

/** Only the manifest knows whether `2026-11-17-site-2` is `site-2`, or `site` for the second time on that day. */
function nameIn(manager: string): string | undefined {
  try {
    return parseManager(readDocument(manager), manager).settings.find(({ key }) => key === 'name')?.value;
  } catch {
    return undefined;
  }
}

function notArchived(archived: readonly ArchivedShift[], wanted: string): NightshiftError {
  const names = [...new Set(archived.map(({ name }) => name))];
  const near = nearest(wanted, names);
  const known = names.length > 0 ? `archived are: ${names.join(', ')}` : 'the archive is empty';
  const hint = near === undefined ? known : `did you mean ${near}?`;
  return new NightshiftError('not-found', `there is no archived shift ${JSON.stringify(wanted)}`, hint);
}
