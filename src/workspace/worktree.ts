import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { askGit, type Git } from './git.ts';
import { inSource, type Source } from './source.ts';

/** For a clone: nothing that its configuration names runs, except the hooks of the start of the run. */
export function safely(source: Source): string[] {
  const settings = [
    `core.hooksPath=${source.hooks}`,
    'core.fsmonitor=false',
    'core.alternateRefsCommand=true',
    'gc.auto=0',
    'maintenance.auto=false',
  ];
  return settings.flatMap((setting) => ['-c', setting]);
}

export interface Worktree {
  readonly folder: string;
  readonly branch: string;
  /** Undefined: the repository has no commit yet. */
  readonly base: string | undefined;
  /** The branch has what was delivered: it stays where it is, and the working tree begins beside it. */
  readonly isDetached: boolean;
}

/** The content of HEAD. */
export function headOf({ branch, base, isDetached }: Worktree): string {
  return isDetached && base !== undefined ? `${base}\n` : `ref: refs/heads/${branch}\n`;
}

/** The author of commits that stay in the desk. */
export const ENGINE = {
  GIT_AUTHOR_NAME: 'Nightshift',
  GIT_AUTHOR_EMAIL: 'nightshift@localhost',
  GIT_COMMITTER_NAME: 'Nightshift',
  GIT_COMMITTER_EMAIL: 'nightshift@localhost',
};

/**
 * Adds a working tree on its branch, which may exist already. It has no files: a desk writes them, with filters as they
 * were at the start of the run. Returns the folder in which git keeps what it knows of this working tree.
 */
export async function addWorktree(git: Git, source: Source, tree: Worktree, signal: AbortSignal): Promise<string> {
  const { folder, branch, base, isDetached } = tree;
  const ask = (...args: string[]) => {
    const call = inSource(source, args, signal);
    return askGit(git, `no working tree can be made in ${folder}`, { ...call, env: { ...call.env, ...ENGINE } });
  };
  const trees = join(source.commonDir, 'worktrees');
  mkdirSync(trees, { recursive: true });
  const add = ['worktree', 'add', '--quiet', '--no-checkout'];
  if (base !== undefined) {
    await ask(...add, ...(isDetached ? ['--detach'] : ['-B', branch]), folder, base);
  } else {
    // Older versions of git can't add one without a commit: it begins with an empty one, and the branch without any.
    const tree = (await ask('hash-object', '-t', 'tree', '-w', '--stdin')).trim();
    const empty = (await ask('commit-tree', '-m', 'Empty', tree)).trim();
    await ask(...add, '--detach', folder, empty);
  }
  // By the path of the repository: git wrote that of its stand-in.
  const gitDir = join(trees, basename(readFileSync(join(folder, '.git'), 'utf8').trimEnd()));
  writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`);
  writeFileSync(join(gitDir, 'HEAD'), headOf(tree));
  // The patterns of a sparse checkout are copied from the main checkout: a workspace has all files.
  rmSync(join(gitDir, 'info', 'sparse-checkout'), { force: true });
  return gitDir;
}

/** What a merge or rebase leaves in progress. */
const IN_PROGRESS =
  /^(MERGE_\w+|CHERRY_PICK_HEAD|REVERT_HEAD|BISECT_\w+|AUTO_MERGE|rebase-(merge|apply)|sequencer|index\.lock|HEAD\.lock)$/;

/** Makes a working tree begin at `base` again for git in the workspace. The files are the desk's matter. */
export async function rewindWorktree(
  git: Git,
  source: Source,
  tree: Worktree & { readonly gitDir: string },
  signal: AbortSignal,
): Promise<void> {
  const { folder, branch, base, gitDir, isDetached } = tree;
  for (const name of readdirSync(gitDir)) {
    if (IN_PROGRESS.test(name)) rmSync(join(gitDir, name), { recursive: true, force: true });
  }
  writeFileSync(join(gitDir, 'HEAD'), headOf(tree));
  // An agent may have removed or replaced it.
  rmSync(join(folder, '.git'), { recursive: true, force: true });
  writeFileSync(join(folder, '.git'), `gitdir: ${gitDir}\n`);
  if (isDetached) return;
  const ref = `refs/heads/${branch}`;
  const args = base === undefined ? ['update-ref', '-d', ref] : ['update-ref', ref, base];
  await askGit(git, `the branch ${branch} can't be moved to its base`, inSource(source, args, signal));
}

/** Where git keeps what it knows of the working tree in `folder`; undefined if it knows none. */
export function gitDirOf({ commonDir }: Source, folder: string): string | undefined {
  const trees = join(commonDir, 'worktrees');
  if (!existsSync(trees)) return undefined;
  // Named after the folder by git: an agent can't make another working tree look like this one.
  const names = readdirSync(trees).filter((name) => name.startsWith(basename(folder)));
  return names.map((name) => join(trees, name)).find((gitDir) => pointsTo(gitDir, join(folder, '.git')));
}

function pointsTo(gitDir: string, link: string): boolean {
  try {
    return lstatSync(gitDir).isDirectory() && readFileSync(join(gitDir, 'gitdir'), 'utf8').trim() === link;
  } catch {
    return false;
  }
}

/** Makes git forget the working tree in `folder`, and no other: those of a person are theirs. */
export async function forgetWorktree(source: Source, folder: string): Promise<void> {
  const trees = join(source.commonDir, 'worktrees');
  const known = gitDirOf(source, folder);
  for (const gitDir of [...(known === undefined ? [] : [known]), ...halfMade(trees, folder)]) {
    await rm(gitDir, { recursive: true, force: true, maxRetries: 3 });
  }
  if (existsSync(trees) && readdirSync(trees).length === 0) rmSync(trees, { recursive: true, force: true });
}

/** What a killed `git worktree add` leaves before it has written where the working tree is. */
function halfMade(trees: string, folder: string): string[] {
  if (!existsSync(trees)) return [];
  const name = basename(folder);
  const own = readdirSync(trees).filter((each) => each.startsWith(name) && /^\d*$/.test(each.slice(name.length)));
  return own.map((each) => join(trees, each)).filter((gitDir) => isEmptyFile(join(gitDir, 'gitdir')));
}

function isEmptyFile(file: string): boolean {
  return (lstatSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;
}
