import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { GitFailure } from './git.ts';

/** More than any repository has. An agent can put a link in place of the folder: nothing large is copied. */
const MOST_FILES = 1000;
const MOST_BYTES = 100_000_000;

export interface HooksPlace {
  /** `core.hooksPath`; undefined: not set. */
  readonly path: string | undefined;
  readonly top: string;
  readonly commonDir: string;
}

/** Copies the hooks of a repository to `hooks`. Returns the folder in it where git finds them. */
export function copyHooks({ path, top, commonDir }: HooksPlace, hooks: string): string {
  const from = path === undefined ? join(commonDir, 'hooks') : resolve(top, path.replace(/^~(?=\/)/, homedir()));
  // Also an empty one, so that hooks which an agent adds later are not found in its place.
  mkdirSync(hooks, { recursive: true, mode: 0o700 });
  // Husky's hooks call scripts in the folder above.
  const isHusky = basename(from) === '_' && dirname(from) !== top;
  copyFolder(isHusky ? dirname(from) : from, hooks);
  return isHusky ? join(hooks, '_') : hooks;
}

function copyFolder(from: string, to: string): void {
  let [files, bytes] = [0, 0];
  const walk = (source: string, target: string) => {
    const stats = statOf(source);
    if (stats?.isDirectory()) {
      mkdirSync(target, { recursive: true, mode: 0o700 });
      for (const name of readdirSync(source)) walk(join(source, name), join(target, name));
      return;
    }
    if (!stats?.isFile() || source.endsWith('.sample')) return;
    files += 1;
    bytes += stats.size;
    if (files > MOST_FILES || bytes > MOST_BYTES) throw tooLarge(from);
    copyFileSync(source, target);
  };
  if (statOf(from)?.isDirectory()) walk(from, to);
}

/** Follows links; undefined for one that leads nowhere. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function tooLarge(folder: string): GitFailure {
  const said = `${folder} has more than ${MOST_FILES} files, or is larger than 100 MB`;
  return new GitFailure("the hooks can't be copied", { kind: 'refused', code: 1, said });
}

/** The files of a folder, by name. One that can be executed differs from one that can't. */
export function digestsOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(
    files.map((file) => {
      const hash = createHash('sha256').update(readFileSync(file)).digest('hex');
      return [relative(folder, file), `${hash} ${statSync(file).mode & 0o111}`];
    }),
  );
}
