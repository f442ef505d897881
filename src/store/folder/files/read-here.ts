import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { notAFile, READ_ONLY_HERE, readError } from '../table/table-file.ts';
import { retryPassing } from './retry.ts';

/**
 * Reads a file that Nightshift keeps. An agent may have replaced it: a link is not followed, and a pipe is not waited
 * for.
 */
export function readHere(file: string): string {
  const fd = openSync(file, READ_ONLY_HERE);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

/** A file that is open for reading, and its size and number. */
export interface OpenFile extends AsyncDisposable {
  readonly handle: FileHandle;
  readonly size: number;
  readonly dev: number;
  readonly ino: number;
}

/** The same for a file that is read in parts. Undefined if there is none. */
export async function openForReading(file: string): Promise<OpenFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    const opened = await retryPassing(() => open(file, READ_ONLY_HERE));
    handle = opened;
    const stats = await opened.stat();
    if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
    const { size, dev, ino } = stats;
    return { handle: opened, size, dev, ino, [Symbol.asyncDispose]: () => opened.close() };
  } catch (error) {
    await handle?.close();
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw readError(error, file);
  }
}
