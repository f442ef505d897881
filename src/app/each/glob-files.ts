import { readdir, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandBraces, globParts, namePattern } from '../../core/text/glob.ts';

/** A wildcard does not match these folders; a pattern may name them. */
const SKIPPED = ['node_modules'];

/**
 * The files that a pattern names, as paths from `folder`, sorted. `*` and `?` match within a name, `**` any number of
 * folders, `{a,b}` either. Wildcards match no hidden names, and `**` follows no links.
 */
export async function globFiles(folder: string, pattern: string): Promise<string[]> {
  const search: Search = { folder, found: new Set(), visited: new Set() };
  for (const glob of expandBraces(pattern)) {
    // `**/**` matches what `**` does.
    const parts = globParts(glob).filter((part, i, all) => part !== '**' || all[i - 1] !== '**');
    await match(search, glob.startsWith('/') ? '/' : '', parts);
  }
  return [...search.found].sort();
}

interface Search {
  readonly folder: string;
  readonly found: Set<string>;
  /** Folders, each with the parts that were matched in it: several `**` lead to the same folder in many ways. */
  readonly visited: Set<string>;
}

/** `at`: what is matched so far, empty or with a slash at its end. */
async function match(search: Search, at: string, parts: readonly string[]): Promise<void> {
  const [part, ...rest] = parts;
  const visit = [at, ...parts].join('\n');
  if (part === undefined || search.visited.has(visit)) return;
  search.visited.add(visit);
  if (part === '**') {
    await match(search, at, rest.length === 0 ? ['*'] : rest);
    for (const { name, isFolder } of await visibleEntries(search, at, '*')) {
      if (isFolder) await match(search, `${at}${name}/`, [part, ...rest]);
    }
    return;
  }
  const names = /[*?]/.test(part) ? (await visibleEntries(search, at, part)).map(({ name }) => name) : [part];
  for (const name of names) {
    if (rest.length > 0) await match(search, `${at}${name}/`, rest);
    else if (await isFile(resolve(search.folder, at + name))) search.found.add(at + name);
  }
}

/** Folders that can't be read have nothing to match. */
async function visibleEntries({ folder }: Search, at: string, part: string) {
  const entries = await readdir(resolve(folder, at), { withFileTypes: true }).catch(() => []);
  const pattern = namePattern(part);
  return entries
    .filter(({ name }) => pattern.test(name) && (part.startsWith('.') || !name.startsWith('.')))
    .filter(({ name }) => !SKIPPED.includes(name))
    .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}
