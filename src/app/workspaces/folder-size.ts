import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** A block of `stat`, whatever the file system uses. */
const BLOCK_BYTES = 512;

/** How much disk a folder uses. Links are not followed; a file with two names counts once. */
export async function folderSize(folder: string): Promise<number> {
  const seen = new Set<string>();
  const sizeOf = async (path: string): Promise<number> => {
    const stats = await lstat(path).catch(() => undefined);
    if (!stats || isSeen(stats, seen)) return 0;
    const own = stats.blocks * BLOCK_BYTES;
    if (!stats.isDirectory()) return own;
    // Agents may work there: what is gone by now does not count.
    const names = await readdir(path).catch(() => []);
    let sum = own;
    for (const name of names) sum += await sizeOf(join(path, name));
    return sum;
  };
  return sizeOf(folder);
}

function isSeen(stats: Stats, seen: Set<string>): boolean {
  if (stats.nlink < 2 || stats.isDirectory()) return false;
  const name = `${stats.dev}:${stats.ino}`;
  if (seen.has(name)) return true;
  seen.add(name);
  return false;
}
