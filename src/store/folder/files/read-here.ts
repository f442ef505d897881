import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { notAFile, READ_ONLY_HERE } from '../table/table-file.ts';

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
