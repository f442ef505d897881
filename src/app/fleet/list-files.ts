import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { readError } from '../../store/folder/table/table-file.ts';

/** A regular file below a folder. */
export interface ListedFile {
  /** Relative to the folder. */
  readonly path: string;
  /** Where it is, without links. */
  readonly file: string;
  readonly size: number;
  readonly isProgram: boolean;
  /** Changes whenever the file does. */
  readonly stamp: string;
}

interface Walk {
  /** The folder, without links. */
  readonly top: string;
  /** Of a path relative to it. */
  readonly isLeftOut: (path: string) => boolean;
  readonly found: ListedFile[];
}

/**
 * The regular files below a folder, except those left out. A link counts as what it leads to, unless that is outside or
 * left out. Throws for a file that can't be read.
 */
export async function listFiles(folder: string, isLeftOut: (path: string) => boolean): Promise<ListedFile[]> {
  const top = await realpath(folder);
  const walk: Walk = { top, isLeftOut, found: [] };
  await listFolder(walk, '', [top]);
  return walk.found;
}

/** One text for all of them, which changes whenever one of them does. */
export function stampOf(files: readonly ListedFile[]): string {
  return files.map(({ stamp }) => stamp).join('\n');
}

/** `above`: this folder and those above it without links, so that a link to one of them is not entered. */
async function listFolder(walk: Walk, path: string, above: readonly string[]): Promise<void> {
  const names = await readdir(above[0]!).catch(unlessGone);
  for (const name of names?.sort() ?? []) await listEntry(walk, path === '' ? name : `${path}/${name}`, above, name);
}

async function listEntry(walk: Walk, path: string, above: readonly string[], name: string): Promise<void> {
  const file = await realpath(join(above[0]!, name)).catch(unlessGone);
  if (file === undefined) return;
  const inner = relative(walk.top, file);
  if (inner === '' || inner.startsWith('..') || isAbsolute(inner) || walk.isLeftOut(inner)) return;
  const found = await stat(file).catch(unlessGone);
  if (found?.isDirectory() && !above.includes(file)) await listFolder(walk, path, [file, ...above]);
  if (!found?.isFile()) return;
  await access(file, constants.R_OK).catch((cause: unknown) => {
    throw readError(cause, file);
  });
  const { size, mode, ino, mtimeMs, ctimeMs } = found;
  const isProgram = (mode & 0o111) !== 0;
  walk.found.push({ path, file, size, isProgram, stamp: JSON.stringify([path, size, mode, ino, mtimeMs, ctimeMs]) });
}

/** Editors replace files; a link may lead nowhere. */
function unlessGone(cause: unknown): undefined {
  const { code = '' } = cause as NodeJS.ErrnoException;
  if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) throw cause;
}
