import { setTimeout as sleep } from 'node:timers/promises';
import type { Desk } from '../desk.ts';
import { askGit, FETCH, type Git, type GitCall, GitFailure, type GitResult, tryGit } from '../git.ts';
import { fetchMissing } from '../partial-clone.ts';
import type { Source } from '../source.ts';
import type { OpenDesk } from './outgoing.ts';

/** No address leads to a program, whatever an agent wrote into a configuration. */
const ONLY_FILES = { GIT_ALLOW_PROTOCOL: 'file' };

interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isRemote?: boolean;
}

/** Git in a desk, for what a delivery needs beside the commit. */
export class DeskGit {
  readonly git: Git;
  readonly files: Desk;
  readonly signal: AbortSignal;
  /** The settings of a source have those of the person. Twice, some of them break a push: `http.extraHeader`. */
  readonly #settings: Readonly<Record<string, string>>;
  readonly #source: Source | undefined;

  constructor(git: Git, { desk, source }: Pick<OpenDesk, 'desk' | 'source'>, signal: AbortSignal) {
    this.git = git;
    this.#source = source;
    this.#settings = source === undefined ? {} : { GIT_CONFIG_GLOBAL: '/dev/null' };
    this.files = desk.with(signal);
    this.signal = signal;
  }

  get folder(): string {
    return this.files.folder;
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    return this.git.run(this.#call(args, options));
  }

  async ask(what: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
    return (await askGit(this.git, what, this.#call(args, options))).trim();
  }

  /** Makes the files those of a tree. What checks and people left there is not part of it, and not lost. */
  async settle(tree: string, base: string | undefined): Promise<void> {
    const now = await this.files.tree(base);
    if (now === tree) return;
    const message = 'What was left when the row was delivered\n';
    await this.files.keep(now, { name: `left/${now}`, parent: base, message });
    await this.files.checkOut(tree);
  }

  /** What git printed; undefined if it said no. */
  try(what: string, args: readonly string[]): Promise<string | undefined> {
    return tryGit(this.git, what, this.#call(args, {}));
  }

  /** Before the files of a commit are used that may be of a partial clone. */
  fetchMissing(commit: string): Promise<void> {
    return fetchMissing(this.git, { desk: this.folder, source: this.#source }, commit, this.signal);
  }

  async has(commit: string): Promise<boolean> {
    return (await this.try(`git can't look for ${commit}`, ['cat-file', '-e', `${commit}^{commit}`])) !== undefined;
  }

  async isAncestor(commit: string, of: string): Promise<boolean> {
    const args = ['merge-base', '--is-ancestor', commit, of];
    return (await this.try("git can't compare commits", args)) !== undefined;
  }

  async message(commit: string): Promise<string> {
    return bodyOf(await this.ask("git can't read a commit", ['cat-file', 'commit', commit]));
  }

  async parents(commit: string): Promise<string[]> {
    const text = await this.ask("git can't read a commit", ['cat-file', 'commit', commit]);
    return [...text.slice(0, text.indexOf('\n\n')).matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent!);
  }

  /** `abc1234 Subject`, for people. */
  async name(commit: string): Promise<string> {
    const shown = await this.run(['log', '-1', '--no-show-signature', '--format=%h %s', commit, '--']);
    return shown.kind === 'done' ? shown.text.trim() : commit.slice(0, 10);
  }

  /** Fetches one branch into the desk, without a branch of its own. */
  async fetch(from: string, branch: string, isRemote: boolean): Promise<void> {
    const args = [...FETCH, '--upload-pack=git-upload-pack', from, `refs/heads/${branch}`];
    await this.ask(`${from} can't be fetched`, args, isRemote ? { isRemote } : { env: ONLY_FILES });
  }

  #call(args: readonly string[], { input, env, isRemote }: RunOptions): GitCall {
    const { folder } = this;
    return {
      folder,
      args,
      env: { ...this.#settings, ...env, GIT_DIR: folder },
      signal: this.signal,
      ...(input === undefined ? {} : { input }),
      ...(isRemote ? { isRemote } : {}),
    };
  }
}

function bodyOf(commit: string): string {
  return commit.slice(commit.indexOf('\n\n') + 2);
}

/** Git looks at HEAD of all working trees, also of one that is just being added and has none yet. */
const HALF_ADDED = /bad object worktrees\//;
const TRIES = 50;
const PAUSE_MS = 100;

/** A repository that agents can write. */
export interface LocalRepository {
  readonly folder: string;
  /** For git, so that its configuration runs no programs. */
  readonly options: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Git refuses to work as long as it is there. */
function halfAdded(folder: string): string {
  return `the commit can't be copied to ${folder}: it has a working tree that is half made; remove that in .git/worktrees`;
}

/** Fetches a branch of a desk into a repository that agents can write: nothing that its configuration names runs. */
export async function fetchFromDesk(
  git: Git,
  { folder, options, env }: LocalRepository,
  { desk, branch }: { readonly desk: string; readonly branch: string },
  signal: AbortSignal,
): Promise<void> {
  const args = [...options, ...FETCH, '--upload-pack=git-upload-pack', desk, `refs/heads/${branch}`];
  const call = { folder, args, env: { ...env, ...ONLY_FILES }, signal };
  for (let tries = 1; ; tries++) {
    const result = await git.run(call);
    if (result.kind === 'done') return;
    const isTransient = result.kind === 'refused' && HALF_ADDED.test(result.said);
    if (isTransient && tries === TRIES) throw new GitFailure(halfAdded(folder), result);
    if (!isTransient) throw new GitFailure(`the commit can't be copied to ${folder}`, result);
    await sleep(PAUSE_MS, undefined, { signal });
  }
}
