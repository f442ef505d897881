import { lstatSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** Something in the workspace that does not become part of a commit. */
export interface Foreign {
  readonly path: string;
  readonly kind: 'repository' | 'submodule' | 'unreadable' | 'large';
  /** Of a submodule. */
  readonly commit?: string;
}

/** Also what the usual hosts of repositories accept. */
const LARGEST_FILE = 100_000_000;
const LARGEST_CHANGE = 1_000_000_000;

/** As a reason, after its path. */
export const WHY_NOT = {
  repository: 'is a git repository of its own',
  submodule: 'is a submodule at a commit that only this workspace has',
  unreadable: "can't be read",
  large: 'is too large: a change has files of up to 100 MB, and 1 GB in all',
};

/** Undefined if it is not there, also if a folder above it is a file now, or can't be reached. */
export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** Which of these files are too large for a change. None is read: an agent can make one of any size. */
export function largeFiles(folder: string, paths: readonly string[], most = LARGEST_CHANGE): string[] {
  let total = 0;
  return paths.filter((path) => {
    const stats = statsOf(join(folder, path));
    if (!stats?.isFile()) return false;
    const isLarge = stats.size > LARGEST_FILE || total + stats.size > most;
    if (!isLarge) total += stats.size;
    return isLarge;
  });
}
