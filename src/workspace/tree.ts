import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { NotThere } from './base.ts';
import { addClone, leadingOut, rewindClone } from './clone.ts';
import { copyAll } from './copy-folder.ts';
import { copyIndex } from './copy-index.ts';
import type { Desk } from './desk.ts';
import type { Git } from './git.ts';
import { branchLock, removeLocks } from './left-locks.ts';
import type { RepositoryLock } from './mirror.ts';
import type { Origin } from './origin.ts';
import { fetchMissing, promisorIn } from './partial-clone.ts';
import type { WorkspaceRecord } from './records.ts';
import { removeFolder } from './remove-folder.ts';
import { inSource } from './source.ts';
import { addSubmodules } from './submodules.ts';
import { addWorktree, forgetWorktree, gitDirOf, rewindWorktree, type Worktree } from './worktree.ts';

export interface TreeOptions {
  readonly git: Git;
  readonly lock: RepositoryLock;
  /** The engine's own folder of a project: never copied. */
  readonly leftOut: string;
  warn(message: string): void;
}

/** A workspace with the repository behind it and the desk over it. */
export interface Place {
  readonly record: WorkspaceRecord;
  readonly origin: Origin;
  readonly desk: Desk;
}

/** Makes, rewinds and removes the folders of workspaces. */
export class Trees {
  readonly #options: TreeOptions;

  constructor(options: TreeOptions) {
    this.#options = options;
  }

  /** Makes the folder, for git at `base` and without files. A copy has no git, and its files at once. */
  async add({ record, origin }: Place, signal: AbortSignal): Promise<void> {
    const { git, lock } = this.#options;
    const { folder, kind } = record;
    mkdirSync(dirname(folder), { recursive: true });
    if (kind === 'copy') {
      if (record.base === undefined) await this.#copy(origin.from, folder, signal);
      else mkdirSync(folder);
    } else if (kind === 'clone') {
      const remote = { source: origin.source!, address: origin.from };
      await addClone(git, remote, treeOf(record), signal);
    } else {
      using _lock = await lock(origin.source!.commonDir);
      await addWorktree(git, origin.source!, treeOf(record), signal);
    }
  }

  /** Writes the files of a commit. For git in the workspace they are read already. */
  async fill(place: Place, commit: string | undefined, signal: AbortSignal): Promise<void> {
    await this.#fetchMissing(place, commit, signal);
    await place.desk.checkOut(commit);
    await this.copyIndex(place, commit);
    await this.addSubmodules(place, signal);
  }

  /** One after the other: of rows that start together, the first fetches for all. */
  async #fetchMissing({ desk, origin }: Place, commit: string | undefined, signal: AbortSignal): Promise<void> {
    const { git, lock } = this.#options;
    const { source } = origin;
    if (source === undefined || promisorIn(source.settings) === undefined) return;
    using _lock = await lock(source.commonDir);
    await fetchMissing(git, { desk: desk.folder, source }, commit, signal);
  }

  async addSubmodules({ record, origin, desk }: Place, signal: AbortSignal): Promise<void> {
    const { git, warn } = this.#options;
    if (record.kind !== 'worktree') return;
    const env = { GIT_DIR: desk.folder, GIT_WORK_TREE: record.folder, GIT_INDEX_FILE: desk.index };
    const missing = await addSubmodules(git, { from: origin.files, to: record.folder, env, signal });
    if (missing.length > 0) {
      warn(`${record.folder}: ${origin.files} lacks commits of the submodules ${missing.join(', ')}: they stay empty`);
    }
  }

  /** Whether git still knows it. A person may have pruned it; a kill or an agent may have left it without `.git`. */
  isKnown(record: WorkspaceRecord, origin: Origin): boolean {
    if (record.kind === 'clone') return leadingOut(record.folder) === undefined;
    const gitDir = gitDirIn(record, origin);
    return record.kind === 'copy' || (gitDir !== undefined && existsSync(gitDir));
  }

  /** Removes the locks of an agent that was killed while it called git. Nothing works in the workspace now. */
  unlock({ record, origin }: Place): void {
    const gitDir = gitDirIn(record, origin);
    if (gitDir !== undefined) removeLocks(gitDir);
    if (record.kind === 'worktree') rmSync(branchLock(origin.source!.commonDir, record.branch), { force: true });
  }

  /** Puts git in the workspace back to `base`, whatever an agent has done with it. Files and index stay. */
  async rewind(place: Place, aside: string, signal: AbortSignal): Promise<void> {
    const { git, lock } = this.#options;
    const { record, origin } = place;
    if (record.kind === 'copy') return;
    const source = origin.source!;
    if (record.kind === 'clone') {
      await rewindClone(git, { source, address: origin.from }, { ...treeOf(record), aside }, signal);
    } else {
      const gitDir = gitDirOf(source, record.folder)!;
      using _lock = await lock(source.commonDir);
      await rewindWorktree(git, source, { ...treeOf(record), gitDir }, signal);
    }
  }

  /** Removes the folder and what its repository knows of it. The branch stays. */
  async clear(record: WorkspaceRecord, origin: Origin | undefined): Promise<void> {
    await removeFolder(record.folder);
    await removeFolder(`${record.folder}.new`);
    const source = origin?.source;
    if (record.kind !== 'worktree' || source === undefined || !existsSync(join(source.commonDir, 'worktrees'))) return;
    using _lock = await this.#options.lock(source.commonDir);
    await forgetWorktree(source, record.folder);
  }

  /** The branch of a working tree goes too if it holds nothing. */
  async remove(record: WorkspaceRecord, origin: Origin | undefined, signal: AbortSignal): Promise<void> {
    await this.clear(record, origin);
    const source = origin?.source;
    if (record.kind !== 'worktree' || source === undefined || record.base === undefined) return;
    const run = (...args: string[]) => this.#options.git.run(inSource(source, args, signal));
    const ref = `refs/heads/${record.branch}`;
    const found = await run('rev-parse', '--verify', '--quiet', ref);
    // Git deletes it only if it is still there.
    if (found.kind === 'done' && found.text.trim() === record.base) await run('update-ref', '-d', ref, record.base);
  }

  /** Git in the workspace begins with the index of `base`, and need not read unchanged files. */
  async copyIndex({ record, origin, desk }: Place, commit: string | undefined): Promise<void> {
    const gitDir = gitDirIn(record, origin);
    if (gitDir === undefined || !existsSync(desk.index)) return;
    const index = commit === record.base ? desk.index : await desk.indexOf(record.base);
    copyIndex(index, join(gitDir, 'index'));
  }

  async #copy(from: string, to: string, signal: AbortSignal): Promise<void> {
    if (`${to}${sep}`.startsWith(`${from}${sep}`)) throw new NotThere(`\`workspaces-dir\` must be outside of ${from}`);
    const { leftOut, warn } = this.#options;
    const skipped = await copyAll(from, to, { isLeftOut: (path) => join(from, path) === leftOut, signal });
    if (skipped.length > 0) warn(`not copied to ${to}, since they are not files: ${skipped.join(', ')}`);
  }
}

/** Where git keeps what it knows of the workspace. Undefined: it knows nothing. */
function gitDirIn({ kind, folder }: WorkspaceRecord, { source }: Origin): string | undefined {
  if (kind === 'clone') return join(folder, '.git');
  return kind === 'copy' || source === undefined ? undefined : gitDirOf(source, folder);
}

function treeOf({ folder, branch, base, delivery }: WorkspaceRecord): Worktree {
  return { folder, branch, base, isDetached: delivery !== undefined };
}
