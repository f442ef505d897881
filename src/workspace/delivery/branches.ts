import type { DeliveryFailure } from '../../core/workspace/workspaces.ts';
import { askGit, type Git } from '../git.ts';
import { type DeskGit, fetchFromDesk } from './desk-git.ts';
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

/** A repository that agents can write. `safely`: options that keep its configuration from running programs. */
export class LocalBranches implements Branches {
  readonly name = 'the repository';
  readonly #desk: DeskGit;
  readonly #repository: { readonly folder: string; readonly safely: readonly string[] };

  constructor(desk: DeskGit, repository: { readonly folder: string; readonly safely: readonly string[] }) {
    this.#desk = desk;
    this.#repository = repository;
  }

  async read(branch: string): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}^{commit}`];
    const { signal, git } = this.#desk;
    const found = await git.run({ folder: this.#repository.folder, args, signal });
    if (found.kind !== 'done') return undefined;
    const commit = found.text.trim();
    if (!(await this.#desk.has(commit))) await this.#desk.fetch(this.#repository.folder, branch, false);
    return commit;
  }

  async write(branch: string, { from, to }: BranchMove): Promise<BranchWritten> {
    const { git, signal, folder: desk } = this.#desk;
    await hold(this.#desk, to);
    await fetchFromDesk(git, this.#repository, { desk, branch: OUTGOING }, signal);
    const { folder, safely } = this.#repository;
    const args = [...safely, 'update-ref', '-m', 'nightshift: deliver', `refs/heads/${branch}`, to, from ?? ''];
    const result = await git.run({ folder, args, signal });
    if (result.kind === 'done') return { kind: 'written' };
    const now = await this.read(branch);
    if (now === to) return { kind: 'written' };
    if (now !== from) return { kind: 'moved' };
    return failureFrom(
      'branch',
      `the branch ${branch} can't be written`,
      result.kind === 'refused' ? result.said : result.reason,
    );
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
    const said = result.kind === 'refused' ? result.said : result.reason;
    if (/stale info|fetch first|non-fast-forward|incorrect old value|reference already exists/.test(said)) {
      return { kind: 'moved' };
    }
    return failureFrom('push', `${branch} can't be pushed`, said);
  }
}

/** The folders in which a branch is checked out. A branch that moves there confuses their files. */
export async function checkedOutIn(
  git: Git,
  repository: string,
  branch: string,
  signal: AbortSignal,
): Promise<string[]> {
  const args = ['worktree', 'list', '--porcelain', '-z'];
  const listed = await askGit(git, "git can't list working trees", { folder: repository, args, signal });
  const trees = listed.split('\0\0').map((tree) => tree.split('\0'));
  return trees
    .filter((lines) => lines.includes(`branch refs/heads/${branch}`))
    .map((lines) => lines.find((line) => line.startsWith('worktree '))!.slice('worktree '.length));
}
