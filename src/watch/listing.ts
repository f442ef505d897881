import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { globParts, namePattern } from '../core/text/glob.ts';

/** Outside of git, and for `protect:`, at most this many files are checked. A larger folder is not watched. */
export const MOST_FILES = 50_000;

/** The files found so far. */
export interface FoundFiles {
  readonly files: Set<string>;
  /** How many folders were walked. */
  folders: number;
  /** A folder that is skipped with its content. */
  readonly leftOut: string;
}

export function isTooMany({ files, folders }: FoundFiles): boolean {
  return files.size > MOST_FILES || folders > MOST_FILES;
}

/** Repositories below a folder. They are only found: git lists their content. */
export interface NestedRepositories {
  /** Walked even if it is a repository. */
  readonly top: string;
  readonly repositories: Set<string>;
  /** Absent: any. A folder that became a repository meanwhile is still walked. */
  readonly known?: ReadonlySet<string> | undefined;
}

/**
 * A file, or all files below a folder. Does not follow links, and skips what git keeps for itself. Without `nested`,
 * a repository is a folder like any other.
 */
export async function findBelow(path: string, found: FoundFiles, nested?: NestedRepositories): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats?.isDirectory()) await walk(path, found, nested);
  else if (stats) found.files.add(path);
}

async function walk(folder: string, found: FoundFiles, nested?: NestedRepositories): Promise<void> {
  if (nested && folder !== nested.top && (await isRepository(folder))) {
    nested.repositories.add(folder);
    if (nested.known?.has(folder) ?? true) return;
  }
  for (const { name, isFolder } of await entriesOf(folder, found)) {
    if (isTooMany(found)) return;
    const path = join(folder, name);
    if (isFolder) await walk(path, found, nested);
    else found.files.add(path);
  }
}

async function isRepository(folder: string): Promise<boolean> {
  return (await lstat(join(folder, '.git')).catch(() => undefined)) !== undefined;
}

/**
 * The files that a glob names, relative to a folder. `*` and `?` match within a name, `**` any number of folders. A
 * folder stands for all its files.
 */
export async function findNamed(folder: string, glob: string, found: FoundFiles): Promise<void> {
  await match(folder, globParts(glob), found);
}

async function match(at: string, [part, ...rest]: readonly string[], found: FoundFiles): Promise<void> {
  if (isTooMany(found) || at === found.leftOut) return;
  if (part === undefined) return findBelow(at, found);
  if (part === '**') {
    await match(at, rest, found);
    if (rest.length === 0) return;
    for (const { name, isFolder } of await entriesOf(at, found)) {
      if (isFolder) await match(join(at, name), [part, ...rest], found);
    }
    return;
  }
  if (!/[*?]/.test(part)) return match(join(at, part), rest, found);
  const pattern = namePattern(part);
  for (const { name } of await entriesOf(at, found)) {
    if (pattern.test(name)) await match(join(at, name), rest, found);
  }
}

/** Unreadable folders don't matter: a qa runs as the same user and can't write there either. */
async function entriesOf(folder: string, found: FoundFiles): Promise<{ name: string; isFolder: boolean }[]> {
  found.folders++;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter(({ name }) => name !== '.git' && join(folder, name) !== found.leftOut)
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
}
