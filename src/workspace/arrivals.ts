import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutLogin } from '../core/workspace/login.ts';
import type { Arrival } from '../core/workspace/state.ts';
import { askGit, type Git, type GitCall, GitFailure } from './git.ts';
import type { Reading, Span } from './reading.ts';
import type { WorkspaceRecord } from './records.ts';

/** A person waits for the answer of a remote. */
const ASK_MS = 60_000;
const FETCH_MS = 5 * 60_000;

/** A branch and its last commit. */
interface Tip {
  readonly name: string;
  readonly commit: string;
}

/** A workspace whose change may have arrived. */
interface Sought {
  readonly record: WorkspaceRecord;
  /** Its configuration is that of the start of the run. */
  readonly desk: string;
  /** The branch that results are merged into. */
  readonly into: string;
}

/**
 * Finds changes in the branches that a person works with, however they came there. Branches of a remote are asked of
 * the remote itself, once each: what a repository remembers of it (`refs/remotes`) is what an agent may have written.
 */
export class Arrivals {
  readonly #git: Git;
  readonly #signal: AbortSignal;
  readonly #asked = new Map<string, Promise<Tip[]>>();
  readonly #fetched = new Map<string, Promise<unknown>>();

  constructor(git: Git, signal: AbortSignal) {
    this.#git = git;
    this.#signal = signal;
  }

  /** Undefined: no branch that is known has it. */
  async find(sought: Sought, reading: Reading, span: Span): Promise<Arrival | undefined> {
    const { kind, from, branch } = sought.record;
    if (kind === 'copy') return undefined;
    const names = [...new Set([sought.into, 'main', 'master'])];
    // The branches of a clone are the agent's.
    const local = kind === 'worktree' && existsSync(from) ? await this.#localTips(from, names) : [];
    for (const { name, commit } of local) {
      // The branch of the workspace itself is no place where it has arrived.
      if (name !== branch && (await reading.isPartOf(span, commit))) return { kind: 'arrived', branch: name };
    }
    const remote = kind === 'clone' ? from : await this.#remoteIn(sought.desk);
    if (remote === undefined || !existsSync(sought.desk)) return undefined;
    const shown = kind === 'clone' ? 'origin' : remote;
    try {
      for (const { name, commit } of await this.#remoteTips(sought, remote, names)) {
        await this.#get(sought, remote, { name, commit });
        if (await reading.isPartOf(span, commit)) return { kind: 'arrived', branch: `${shown}/${name}` };
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      return { kind: 'unknown', why: withoutLogin(error.message) };
    }
  }

  /** Of the repository of a person. A name that stands for another one is not followed. */
  async #localTips(folder: string, names: readonly string[]): Promise<Tip[]> {
    const run = async (...args: string[]) => {
      const result = await this.#git.run({ folder, args, signal: this.#signal });
      return result.kind === 'done' ? result.text.trim() : '';
    };
    const head = await run('symbolic-ref', '--quiet', 'HEAD');
    const refs = [...(head === '' ? [] : [head]), ...names.map((name) => `refs/heads/${name}`)];
    const listed = await run('for-each-ref', '--format=%(refname) %(objectname) %(symref)', ...new Set(refs));
    const found = listed.split('\n').map((line) => line.split(' '));
    return found.flatMap(([ref = '', commit = '', symref]) =>
      ref.startsWith('refs/heads/') && !symref ? [{ name: ref.slice('refs/heads/'.length), commit }] : [],
    );
  }

  async #remoteIn(desk: string): Promise<string | undefined> {
    const args = ['config', '--file', join(desk, 'config'), '--name-only', '--get-regexp', '^remote\\..*\\.url$'];
    const listed = existsSync(desk) ? await this.#git.run({ folder: desk, args, signal: this.#signal }) : undefined;
    const remotes = listed?.kind === 'done' ? listed.text.trim().split('\n') : [];
    const names = [...new Set(remotes.map((key) => key.replace(/^remote\.(.*)\.url$/, '$1')))];
    return names.find((name) => name === 'origin') ?? (names.length === 1 ? names[0] : undefined);
  }

  /** The default branch of the remote, and those that are asked for. */
  #remoteTips(sought: Sought, remote: string, names: readonly string[]): Promise<Tip[]> {
    const key = JSON.stringify([sought.record.from, remote, names]);
    const ask = async (): Promise<Tip[]> => {
      const refs = ['HEAD', ...names.map((name) => `refs/heads/${name}`)];
      const args = ['ls-remote', '--quiet', '--symref', '--end-of-options', remote, ...refs];
      const call = { ...this.#callIn(sought.desk, args), withinMs: ASK_MS };
      const listed = await askGit(this.#git, `${remote} can't be asked whether it has the change`, call);
      const main = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(listed)?.[1];
      const found = [...listed.matchAll(/^(\w+)\trefs\/heads\/(.+)$/gm)].map(
        ([, commit, name]) => [name!, commit!] as const,
      );
      const commits = new Map(found);
      const head = /^(\w+)\tHEAD$/m.exec(listed)?.[1];
      if (main !== undefined && head !== undefined) commits.set(main, head);
      return [...commits].map(([name, commit]) => ({ name, commit }));
    };
    return once(this.#asked, key, ask);
  }

  /** Into the objects of the repository or mirror, which all its desks share. No branch is written. */
  async #get({ record, desk }: Sought, remote: string, { name, commit }: Tip): Promise<void> {
    const exists = this.#callIn(desk, ['cat-file', '-e', `${commit}^{commit}`]);
    if ((await this.#git.run({ ...exists, isRemote: false })).kind === 'done') return;
    await once(this.#fetched, `${record.from} ${commit}`, () => {
      const quietly = ['--quiet', '--no-write-fetch-head', '--no-tags', '--no-recurse-submodules'];
      const args = ['fetch', ...quietly, '--no-auto-maintenance', '--end-of-options', remote, `refs/heads/${name}`];
      const call = this.#callIn(desk, args);
      const [shared = ''] = readFileSync(join(desk, 'objects', 'info', 'alternates'), 'utf8').split('\n');
      const env = {
        ...call.env,
        GIT_OBJECT_DIRECTORY: shared,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: join(desk, 'objects'),
      };
      return askGit(this.#git, `${name} can't be fetched from ${remote}`, { ...call, env, withinMs: FETCH_MS });
    });
  }

  /** The settings of a desk have those of the person. */
  #callIn(desk: string, args: readonly string[]): GitCall {
    const env = { GIT_DIR: desk, GIT_CONFIG_GLOBAL: '/dev/null' };
    return { folder: desk, args, env, signal: this.#signal, isRemote: true };
  }
}

function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const made = known.get(key) ?? make();
  known.set(key, made);
  return made;
}
