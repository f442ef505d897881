import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { globParts, namePattern } from '../core/text/glob.ts';
import type { Include } from '../core/workspace/plan.ts';
import { copyAll } from './copy-folder.ts';

export interface Included {
  /** What the workspace got, relative to its top. */
  readonly paths: readonly string[];
  /** What was asked for and is not there. */
  readonly missing: readonly string[];
}

/** Which files and folders of a repository `include` names. What leads out of it counts as missing. */
export function findIncluded(includes: readonly Include[], from: string): Included {
  const missing: string[] = [];
  const paths = includes.flatMap(({ path }) => {
    const found = expand(from, globParts(path));
    if (found.length === 0) missing.push(path);
    return found;
  });
  return { paths: [...new Set(paths)], missing };
}

/** Copies or links them into a workspace. What it has already stays as it is. */
export async function addIncluded(
  includes: readonly Include[],
  { from, to }: { readonly from: string; readonly to: string },
  signal: AbortSignal,
): Promise<void> {
  for (const { path, isLink } of includes) {
    for (const found of expand(from, globParts(path))) {
      const target = join(to, found);
      if (leadsOut(dirname(target), to) || lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
      await mkdir(dirname(target), { recursive: true });
      if (isLink) await symlink(join(from, found), target);
      else await copyAll(join(from, found), target, { signal });
    }
  }
}

/** An earlier task may have put a link in place of a folder. */
function leadsOut(folder: string, top: string): boolean {
  let there = folder;
  while (!existsSync(there)) there = dirname(there);
  return !`${realpathSync(there)}${sep}`.startsWith(`${realpathSync(top)}${sep}`);
}

/** Paths that a glob names, relative to `folder`. */
function expand(folder: string, [part, ...rest]: readonly string[], above = ''): string[] {
  if (part === undefined) return above === '' ? [] : [above];
  if (part === '..' || part === '.git') return [];
  if (!/[*?]/.test(part)) {
    const path = join(above, part);
    return existsSync(join(folder, path)) ? expand(folder, rest, path) : [];
  }
  const names = foldersAndFiles(join(folder, above)).filter((name) => name !== '.git');
  if (part === '**') {
    const here = rest.length === 0 ? names.map((name) => join(above, name)) : expand(folder, rest, above);
    const isFolder = (name: string) => lstatSync(join(folder, above, name)).isDirectory();
    const deeper = rest.length === 0 ? [] : names.filter(isFolder);
    return [...here, ...deeper.flatMap((name) => expand(folder, [part, ...rest], join(above, name)))];
  }
  const matcher = namePattern(part);
  return names.filter((name) => matcher.test(name)).flatMap((name) => expand(folder, rest, join(above, name)));
}

function foldersAndFiles(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
