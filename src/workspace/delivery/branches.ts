import { dirname } from 'node:path';
import type { DeliveryFailure } from '../../core/workspace/workspaces.ts';
import { askGit, type Git, GitFailure, tryGit } from '../git.ts';
import { settingIn } from '../settings.ts';
import { environmentIn, inSource, type Source } from '../source.ts';
import { type DeskGit, fetchFromDesk, type LocalRepository } from './desk-git.ts';
import { failureFrom } from './failure.ts';

/** Where branches go: a repository on this machine, or a remote. */
export interface Branches {
  /** For reasons: `the repository`, or the remote's name. */
  readonly name: string;
  /** The commit of a branch, which the desk has afterwards; undefined: there is no such branch. */
  read(branch: string): Promise<string | undefined>;
  /** Moves a branch if it still is at `from`; undefined: it must not exist. `to` is on the desk's branch `source`. */
  write(branch: string, move: BranchMove): Promise<BranchWritten>;
}

export interface BranchMove {
  readonly from: string | undefined;
  readonly to: string;
}

/** `moved`: another program was faster. */
export type BranchWritten = { readonly kind: 'written' } | { readonly kind: 'moved' } | DeliveryFailure;

/** A ref of the desk that carries what is sent: fetch and push ask for a ref, not for a commit. */
const OUTGOING = 'nightshift-outgoing';

async function hold(desk: DeskGit, commit: string): Promise<void> {
  await desk.ask("git can't prepare a branch", ['update-ref', `refs/heads/${OUTGOING}`, commit]);
}

/** A repository that agents can write. */
export class LocalBranches implements Branches {
  readonly name = 'the repository';
  readonly #desk: DeskGit;
  readonly #repository: LocalRepository;

  constructor(desk: DeskGit, repository: LocalRepository) {
    this.#desk = desk;
    this.#repository = repository;
  }

  async read(branch: string): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
    const { signal, git } = this.#desk;
    const { folder, env } = this.#repository;
    const commit = (await tryGit(git, `git can't find ${branch}`, { folder, args, env, signal }))?.trim();
    if (commit === undefined) return undefined;
    if (!(await this.#desk.has(commit))) await this.#desk.fetch(folder, branch, false);
    return commit;
  }

  async write(branch: string, { from, to }: BranchMove): Promise<BranchWritten> {
    const { git, signal, folder: desk } = this.#desk;
    await hold(this.#desk, to);
    await fetchFromDesk(git, this.#repository, { desk, branch: OUTGOING }, signal);
    const { folder, options, env } = this.#repository;
    const args = [...options, 'update-ref', '-m', 'nightshift: deliver', `refs/heads/${branch}`, to, from ?? ''];
    const result = await git.run({ folder, args, env, signal });
    if (result.kind === 'done') return { kind: 'written' };
    const now = await this.read(branch);
    if (now === to) return { kind: 'written' };
    if (now !== from) return { kind: 'moved' };
    const what = `the branch ${branch} can't be written`;
    if (result.kind === 'not-run') throw new GitFailure(what, result);
    return failureFrom('branch', what, result.said);
  }
}

/** `remote`: its name in the configuration of the desk, or an address. */
export class RemoteBranches implements Branches {
  readonly name: string;
  readonly #desk: DeskGit;

  constructor(desk: DeskGit, remote: string) {
    this.#desk = desk;
    this.name = remote;
  }

  async read(branch: string): Promise<string | undefined> {
    const ref = `refs/heads/${branch}`;
    const what = `${this.name} can't be reached`;
    const listed = await this.#desk.ask(what, ['ls-remote', '--quiet', this.name, ref], { isRemote: true });
    const commit = listed
      .split('\n')
      .find((line) => line.endsWith(`\t${ref}`))
      ?.split('\t')[0];
    if (commit === undefined) return undefined;
    if (!(await this.#desk.has(commit))) await this.#desk.fetch(this.name, branch, true);
    return commit;
  }

  async write(branch: string, { from, to }: BranchMove): Promise<BranchWritten> {
    const ref = `refs/heads/${branch}`;
    const lease = `--force-with-lease=${ref}:${from ?? ''}`;
    const args = [
      'push',
      '--porcelain',
      '--no-follow-tags',
      '--recurse-submodules=no',
      lease,
      this.name,
      `${to}:${ref}`,
    ];
    const result = await this.#desk.run(args, { isRemote: true });
    if (result.kind === 'done') return { kind: 'written' };
    const what = `${branch} can't be pushed`;
    if (result.kind === 'not-run') throw new GitFailure(what, result);
    if (/stale info|fetch first|non-fast-forward|incorrect old value|reference already exists/.test(result.said)) {
      return { kind: 'moved' };
    }
    return failureFrom('push', what, result.said);
  }
}

/** The folders in which a branch is checked out. A branch that moves there confuses their files. */
export async function checkedOutIn(
  git: Git,
  repository: string,
  branch: string,
  signal: AbortSignal,
): Promise<string[]> {
  const listed = await askGit(git, UNLISTED, { folder: repository, args: LIST, signal });
  return foldersWith(branch, listed.split('\0\0'));
}

/** The same while agents can write the repository. */
export async function openIn(git: Git, source: Source, branch: string, signal: AbortSignal): Promise<string[]> {
  const { commonDir, gitDir, folder, settings } = source;
  // The first one stands for the repository itself, whose HEAD is elsewhere.
  const [, ...linked] = (await askGit(git, UNLISTED, inSource(source, LIST, signal))).split('\0\0');
  const env = environmentIn(source, commonDir);
  const args = ['symbolic-ref', '--quiet', 'HEAD'];
  const head = await tryGit(git, `git can't read HEAD of ${folder}`, { folder, args, env, signal });
  const isBare = settingIn(settings, 'core.bare') === 'true';
  const isMain = !isBare && head?.trim() === `refs/heads/${branch}`;
  const main = gitDir === commonDir ? folder : dirname(commonDir);
  return [...(isMain ? [main] : []), ...foldersWith(branch, linked)];
}

const LIST = ['worktree', 'list', '--porcelain', '-z'];
const UNLISTED = "git can't list working trees";

function foldersWith(branch: string, trees: readonly string[]): string[] {
  return trees
    .map((tree) => tree.split('\0'))
    .filter((lines) => lines.includes(`branch refs/heads/${branch}`))
    .map((lines) => lines.find((line) => line.startsWith('worktree '))!.slice('worktree '.length));
}
