import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withoutLogin } from '../core/workspace/login.ts';
import { askGit, type Git } from './git.ts';

const SUBMODULE = /^160000 ([0-9a-f]+) 0\t(.*)$/s;

/** No hooks; files of Git LFS stay pointers if it is not installed. */
const SAFELY = ['core.hooksPath=/dev/null', 'core.fsmonitor=false', 'filter.lfs.required=false'].flatMap((setting) => [
  '-c',
  setting,
]);

export interface SubmodulePlace {
  /** The main checkout, and the workspace. */
  readonly from: string;
  readonly to: string;
  /** How git finds the index of the workspace, if not by its folder. */
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/**
 * Fills the submodules of a workspace that the main checkout has initialised, from the objects that are there: without
 * the network. Returns those that can't be filled.
 */
export async function addSubmodules(git: Git, place: SubmodulePlace): Promise<string[]> {
  const { from, to, env = {}, signal } = place;
  if (!existsSync(join(to, '.gitmodules'))) return [];
  const args = ['ls-files', '--stage', '-z'];
  const listed = await askGit(git, "git can't list submodules", { folder: to, args, env, signal });
  const missing: string[] = [];
  for (const { commit, path } of submodulesIn(listed)) {
    if (existsSync(join(to, path, '.git'))) continue;
    const module = gitDirOf(join(from, path));
    if (module === undefined) continue;
    const isFilled = await fill(git, { module, commit, to: join(to, path) }, signal);
    const inner = isFilled ? await addSubmodules(git, { from: join(from, path), to: join(to, path), signal }) : [];
    missing.push(...(isFilled ? inner.map((each) => `${path}/${each}`) : [path]));
  }
  return missing;
}

interface Submodule {
  readonly commit: string;
  readonly path: string;
}

/** `listed`: by `git ls-files --stage -z`. */
function submodulesIn(listed: string): Submodule[] {
  return listed.split('\0').flatMap((entry) => {
    const [, commit, path] = SUBMODULE.exec(entry) ?? [];
    return commit === undefined || path === undefined ? [] : [{ commit, path }];
  });
}

/**
 * What `git add` must leave alone: submodules, and repositories that an agent made, which are still at their commit.
 * For these, git would look for changes inside, and run the filters that an agent has set there.
 */
export function unmovedIn(listed: string, changed: readonly string[]): string[] {
  const moved = new Set(changed);
  return submodulesIn(listed)
    .map(({ path }) => path)
    .filter((path) => !moved.has(path));
}

/** Pathspecs for all files but these. */
export function allBut(paths: readonly string[]): string[] {
  return ['.', ...paths.map((path) => `:(exclude,literal)${path}`)];
}

interface Filling {
  /** The repository of the submodule in the main checkout. */
  readonly module: string;
  readonly commit: string;
  readonly to: string;
}

async function fill(git: Git, { module, commit, to }: Filling, signal: AbortSignal): Promise<boolean> {
  const run = (folder: string, ...args: string[]) => git.run({ folder, args: [...SAFELY, ...args], signal });
  if ((await run(module, 'cat-file', '-e', `${commit}^{commit}`)).kind !== 'done') return false;
  const what = `the submodule ${to} can't be filled`;
  const ask = (folder: string, ...args: string[]) => askGit(git, what, { folder, args: [...SAFELY, ...args], signal });
  await ask(module, 'clone', '--quiet', '--shared', '--no-checkout', '--template=', module, to);
  const address = await run(module, 'config', 'remote.origin.url');
  // The agent reads it.
  if (address.kind === 'done') await ask(to, 'config', 'remote.origin.url', withoutLogin(address.text.trim()));
  await ask(to, 'checkout', '--quiet', '--detach', commit);
  return true;
}

/** Undefined: the main checkout has not initialised it. */
function gitDirOf(folder: string): string | undefined {
  const link = join(folder, '.git');
  if (!existsSync(link)) return undefined;
  if (statSync(link).isDirectory()) return link;
  const [, path] = /^gitdir: (.*)\n?$/.exec(readFileSync(link, 'utf8')) ?? [];
  return path === undefined ? undefined : resolve(folder, path);
}
