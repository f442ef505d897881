import { lstatSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type Git } from './git.ts';
import { moveAside } from './move-aside.ts';
import type { Source } from './source.ts';
import { headOf, safely, type Worktree } from './worktree.ts';

/** A mirror, and the remote that it is a copy of. */
export interface Remote {
  readonly source: Source;
  readonly address: string;
}

/** A clone with its objects in the mirror, and with the address of the remote. It has no files. */
export async function addClone(
  git: Git,
  { source, address }: Remote,
  tree: Worktree,
  signal: AbortSignal,
): Promise<void> {
  const { folder, branch, base } = tree;
  const ask = (where: string, ...args: string[]) =>
    askGit(git, `no clone can be made in ${folder}`, { folder: where, args: [...safely(source), ...args], signal });
  const quietly = ['--quiet', '--shared', '--no-checkout', '--template=', '--origin=origin'];
  await ask(source.standIn, 'clone', ...quietly, source.standIn, folder);
  writeFileSync(join(folder, '.git', 'objects', 'info', 'alternates'), `${join(source.commonDir, 'objects')}\n`);
  await ask(folder, 'config', 'remote.origin.url', address);
  if (base !== undefined) await ask(folder, 'update-ref', `refs/heads/${branch}`, base);
  writeFileSync(join(folder, '.git', 'HEAD'), headOf(tree));
}

/**
 * What in the repository of a clone leads git out of it: an agent may have put a link there, or the name of another
 * repository. Undefined: nothing does.
 */
export function leadingOut(folder: string): string | undefined {
  const gitDir = join(folder, '.git');
  if (!lstatSync(gitDir, { throwIfNoEntry: false })?.isDirectory()) return gitDir;
  const entriesOf = (name: string, recursive = false) => {
    const inner = join(gitDir, name);
    const isFolder = lstatSync(inner, { throwIfNoEntry: false })?.isDirectory();
    return isFolder ? readdirSync(inner, { withFileTypes: true, recursive }) : [];
  };
  const entries = [...entriesOf(''), ...entriesOf('objects'), ...entriesOf('refs', true), ...entriesOf('logs', true)];
  const found = entries.find((entry) => entry.isSymbolicLink() || entry.name === 'commondir');
  return found && join(found.parentPath, found.name);
}

/**
 * Makes a clone begin at `base` again for git in the workspace. An agent may have changed anything in its repository,
 * so it gets a new one, and the old one goes to `aside`. The files are the desk's matter.
 */
export async function rewindClone(
  git: Git,
  remote: Remote,
  { aside, ...tree }: Worktree & { readonly aside: string },
  signal: AbortSignal,
): Promise<void> {
  const fresh = `${tree.folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  await addClone(git, remote, { ...tree, folder: fresh }, signal);
  await moveAside(join(tree.folder, '.git'), aside, signal);
  renameSync(join(fresh, '.git'), join(tree.folder, '.git'));
  rmSync(fresh, { recursive: true, force: true });
}
