import { lstatSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskError, removeTemporaries } from '../files/atomic-write.ts';
import { LOCK_WAIT_MS, lockWithin } from '../files/flock.ts';
import { folderOf } from '../files/inside.ts';
import { makeFolder, type ShiftPaths } from '../layout.ts';

/** Creates the engine's folder and removes what a crash left half written. */
export async function prepareFolder(paths: ShiftPaths): Promise<void> {
  const { folder, engine, lock } = paths;
  try {
    makeFolder(folder, engine);
    using _lock = await lockWithin(lock, LOCK_WAIT_MS);
    await removeTemporaries(folder);
    await removeTemporariesIn(paths, engine);
    const versions = dirname(paths.versions('task'));
    for (const task of await readdir(versions).catch(() => [])) await removeTemporariesIn(paths, join(versions, task));
  } catch (cause) {
    throw diskError(cause, folder);
  }
}

async function removeTemporariesIn(paths: ShiftPaths, folder: string): Promise<void> {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  using opened = folderOf(paths.folder, join(folder, 'any'));
  await removeTemporaries(opened.at('.'));
}
