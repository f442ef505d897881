import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { diskError, type Failpoint, removeTemporaries, replaceFile } from '../store/folder/files/atomic-write.ts';

/** Removes the files that were added, and the folders that are empty then. */
export interface AddedFiles {
  undo(): Promise<void>;
}

/**
 * Adds files below a folder, all or none. One that is there with the same content stays; any other is an error. A kill
 * leaves no half of a file, so that the same call can be repeated.
 */
export async function addFiles(
  root: string,
  files: ReadonlyMap<string, Uint8Array>,
  failpoint?: Failpoint,
): Promise<AddedFiles> {
  const missing: string[] = [];
  const inTheWay = new Set<string>();
  for (const [path, bytes] of files) {
    const present = await firstNonFolder(root, path);
    if (present === undefined) missing.push(path);
    else if (present !== path || !(await isSame(join(root, path), bytes))) inTheWay.add(present);
  }
  if (inTheWay.size > 0) throw refuse(root, [...inTheWay].sort());
  const written: string[] = [];
  const folders: string[] = [];
  const undo = async () => {
    for (const file of written) await rm(file, { force: true });
    for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {});
  };
  try {
    for (const path of missing) {
      const file = join(root, path);
      folders.push(...(await makeFolders(root, dirname(path))));
      await removeTemporaries(dirname(file));
      const isFree = () => !existsSync(file);
      const added = await replaceFile(file, files.get(path)!, 0o666, failpoint, isFree);
      if (added === undefined) throw refuse(root, [path]);
      written.push(file);
    }
  } catch (cause) {
    await undo();
    throw diskError(cause, root);
  }
  return { undo };
}

/** What is at a path, or at a folder above it where something else than a folder is. Undefined: the path is free. */
async function firstNonFolder(root: string, path: string): Promise<string | undefined> {
  const parts = path.split('/');
  for (let count = 1; count <= parts.length; count++) {
    const part = parts.slice(0, count).join('/');
    const found = await stat(join(root, part)).catch(() => lstat(join(root, part)).catch(() => undefined));
    if (found === undefined) return undefined;
    if (!found.isDirectory() || part === path) return part;
  }
  return undefined;
}

async function isSame(file: string, bytes: Uint8Array): Promise<boolean> {
  if (!(await lstat(file)).isFile()) return false;
  return (await readFile(file).catch(() => undefined))?.equals(bytes) ?? false;
}

/** The folders that had to be made, outermost first. */
async function makeFolders(root: string, path: string): Promise<string[]> {
  const made: string[] = [];
  let folder = root;
  for (const part of path.split('/')) {
    folder = join(folder, part);
    const isNew = await mkdir(folder).then(
      () => true,
      (cause: NodeJS.ErrnoException) => {
        if (cause.code !== 'EEXIST') throw cause;
        return false;
      },
    );
    if (isNew) made.push(folder);
  }
  return made;
}

function refuse(root: string, files: readonly string[]): NightshiftError {
  const message = `these are there already, with other content: ${files.join(', ')}`;
  return new NightshiftError('usage', message, 'move them away, or create the shift in another folder', { file: root });
}
