import { lstat } from 'node:fs/promises';

/** What files looked like at one moment: path to mark. Nothing of their content: a tree may be large. */
export type Inventory = ReadonlyMap<string, string>;

const AT_ONCE = 32;

/** Size, times and inode of each that is there. When the files were read last is not part of it. */
export async function takeInventory(files: Iterable<string>, signal: AbortSignal): Promise<Inventory> {
  const marks = new Map<string, string>();
  const left = files[Symbol.iterator]();
  const look = async () => {
    for (let next = left.next(); !next.done && !signal.aborted; next = left.next()) {
      const mark = await markOf(next.value);
      if (mark !== undefined) marks.set(next.value, mark);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
  return marks;
}

async function markOf(file: string): Promise<string | undefined> {
  try {
    const { size, mtimeMs, ctimeMs, ino } = await lstat(file);
    return `${size} ${mtimeMs} ${ctimeMs} ${ino}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : code;
  }
}

/** New, removed and changed files, in order. */
export function changedFiles(before: Inventory, after: Inventory): string[] {
  const changed = [...after.keys()].filter((file) => before.get(file) !== after.get(file));
  return [...changed, ...[...before.keys()].filter((file) => !after.has(file))].sort();
}
