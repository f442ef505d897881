import { lstatSync, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { copyAll } from './copy-folder.ts';

/** Moves a file or folder, also to another file system. Nothing happens if it is not there. */
export async function moveAside(from: string, to: string, signal: AbortSignal): Promise<void> {
  if (lstatSync(from, { throwIfNoEntry: false }) === undefined) return;
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyAll(from, to, { signal });
    await rm(from, { recursive: true, force: true });
  }
}
