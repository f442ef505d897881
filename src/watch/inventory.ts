import { lstat, readFile } from 'node:fs/promises';

/** The state of files at one moment: path to mark. Without their content: a tree may be large. */
export type Inventory = Map<string, string>;

const AT_ONCE = 32;
/** A larger file of ignore rules is compared by its times only. */
const LARGEST_RULES = 1024 * 1024;

/** The identity, size and times of each file that exists, without the time of the last read. */
export function takeInventory(files: Iterable<string>, signal: AbortSignal): Promise<Inventory> {
  return markEach(files, signal, markOf);
}

/** Compared by content: programs rewrite settings files without a change. */
export function takeContents(files: Iterable<string>, signal: AbortSignal): Promise<Inventory> {
  return markEach(files, signal, contentOf);
}

type MarkFile = (file: string) => Promise<string | undefined>;

async function markEach(files: Iterable<string>, signal: AbortSignal, mark: MarkFile): Promise<Inventory> {
  const marks: Inventory = new Map();
  const left = files[Symbol.iterator]();
  const look = async () => {
    for (let next = left.next(); !next.done && !signal.aborted; next = left.next()) {
      const found = await mark(next.value);
      if (found !== undefined) marks.set(next.value, found);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, look));
  return marks;
}

async function markOf(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file);
    // The content of a folder is listed by itself, or ignored: its times say nothing.
    if (stats.isDirectory()) return 'folder';
    const { dev, ino, size, mtimeMs, ctimeMs, mode } = stats;
    return `${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : code;
  }
}

/** `DEVICE:INODE` of a file that was marked by its times. */
export function identityIn(mark: string | undefined): string | undefined {
  return mark?.includes(' ') ? mark.slice(0, mark.indexOf(' ')) : undefined;
}

async function contentOf(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (!stats?.isFile() || stats.size > LARGEST_RULES) return markOf(file);
  return readFile(file, 'latin1').catch(() => markOf(file));
}

/** New, removed and changed files, in order. */
export function changedFiles(before: Inventory, after: Inventory): string[] {
  const changed = [...after.keys()].filter((file) => before.get(file) !== after.get(file));
  return [...changed, ...[...before.keys()].filter((file) => !after.has(file))].sort();
}
