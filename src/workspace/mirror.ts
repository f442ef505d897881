import { createHash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { askGit, FETCH, type Git, GitFailure, tryGit } from './git.ts';
import { removeLocks } from './left-locks.ts';
import { OnceAMinute } from './once-a-minute.ts';
import { renderSettings, type Settings } from './settings.ts';
import { inSource, type Source } from './source.ts';
import { writeIfNew } from './write-if-new.ts';

/** Addresses as git knows them, and paths; anything else could be an option of git, or run a program (`ext::`). */
const ADDRESS = /^(https?:\/\/|ssh:\/\/|git:\/\/|file:\/\/|\/|\.{1,2}\/|[\w.-]+@[\w.-]+:)/;

export function isAddress(text: string): boolean {
  return ADDRESS.test(text) && !/[\0\n\r]/.test(text);
}

/** Held while a repository is changed, also by other processes. */
export type RepositoryLock = (repository: string) => Promise<Disposable>;

interface WantedCommit {
  /** Undefined: none, the remote is empty. */
  readonly commit: string | undefined;
  readonly ref?: string | undefined;
}

/** Nothing runs that an agent has put there. */
const SAFELY = ['-c', 'core.hooksPath=/dev/null'];

/**
 * Local copies of remote repositories, shared by all shifts of a person. Agents can write them: their settings are
 * written anew before they are used, and what they hold is fetched again if it is not what was fetched.
 */
export class Mirrors {
  readonly #git: Git;
  readonly #folder: string;
  readonly #lock: RepositoryLock;
  readonly #fetches: OnceAMinute;
  /** The branches and tags of each, as they were fetched. */
  readonly #refs = new Map<string, string>();

  constructor(git: Git, folder: string, { lock, now }: { readonly lock: RepositoryLock; readonly now: () => number }) {
    this.#git = git;
    this.#folder = folder;
    this.#lock = lock;
    this.#fetches = new OnceAMinute(now);
  }

  /** The mirror as it is; undefined: there is none yet. */
  known(address: string): string | undefined {
    const folder = join(this.#folder, nameOf(address));
    if (!existsSync(join(folder, 'FETCHED'))) return undefined;
    writeSettings(folder, address);
    return folder;
  }

  /** Returns the folder of a bare repository that was fetched within the last minute. */
  async fresh(address: string, signal: AbortSignal): Promise<string> {
    const folder = join(this.#folder, nameOf(address));
    const fetch = async () => {
      mkdirSync(folder, { recursive: true });
      using _lock = await this.#lock(folder);
      await this.#fetch(address, folder, signal);
      this.#refs.set(folder, await this.#refsOf(folder, signal));
    };
    await this.#fetches.run(folder, signal, fetch);
    writeSettings(folder, address);
    if ((await this.#refsOf(folder, signal)) !== this.#refs.get(folder)) await fetch();
    return folder;
  }

  /** The mirror with a commit that it may lack. `ref`: where the remote has it; absent: in a branch or tag. */
  async having(address: string, { commit, ref }: WantedCommit, signal: AbortSignal): Promise<string> {
    const folder = this.known(address) ?? (await this.fresh(address, signal));
    if (commit === undefined || (await this.#has(folder, commit, signal))) return folder;
    using _lock = await this.#lock(folder);
    // Another process may have fetched it meanwhile.
    if (await this.#has(folder, commit, signal)) return folder;
    if (ref === undefined) await this.#fetch(address, folder, signal);
    else await this.#fetchRef(address, folder, ref, signal);
    if (await this.#has(folder, commit, signal)) return folder;
    throw new GitFailure(`${address} has no commit ${commit} any more`, {
      kind: 'not-run',
      reason: 'it was removed there',
    });
  }

  async #has(folder: string, commit: string, signal: AbortSignal): Promise<boolean> {
    const args = [...SAFELY, 'cat-file', '-e', `${commit}^{commit}`];
    return (await tryGit(this.#git, "git can't read a mirror", { folder, args, signal })) !== undefined;
  }

  async #fetchRef(address: string, folder: string, ref: string, signal: AbortSignal): Promise<void> {
    const args = [...SAFELY, ...FETCH, 'origin', `+${ref}:${ref}`];
    await askGit(this.#git, `${address} can't be fetched`, { folder, args, signal, isRemote: true });
  }

  async #refsOf(folder: string, signal: AbortSignal): Promise<string> {
    const args = [...SAFELY, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/', 'refs/tags/'];
    const refs = await askGit(this.#git, "git can't read a mirror", { folder, args, signal });
    return `${readFileSync(join(folder, 'HEAD'), 'utf8')}${refs}`;
  }

  /** The commit that the remote's default branch or `base` names; undefined if it has no commits. */
  async resolve(mirror: Source, base: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const names = base === undefined ? ['HEAD'] : [`refs/heads/${base}`, `refs/tags/${base}`, base];
    for (const name of names) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
      const found = await tryGit(this.#git, `git can't find ${name}`, inSource(mirror, args, signal));
      if (found !== undefined) return found.trim();
    }
    return undefined;
  }

  async #fetch(address: string, folder: string, signal: AbortSignal): Promise<void> {
    const run = (what: string, ...args: string[]) =>
      askGit(this.#git, what, { folder, args: [...SAFELY, ...args], signal, isRemote: true }).then((text) =>
        text.trim(),
      );
    removeLocks(folder);
    // A kill may have left it half made.
    if (!existsSync(join(folder, 'FETCHED'))) {
      await run("git can't prepare a mirror", 'init', '--quiet', '--bare', '--template=', '--object-format=sha1', '.');
    }
    writeSettings(folder, address);
    const quietly = ['--quiet', '--prune', '--no-write-fetch-head', '--no-auto-maintenance'];
    const what = `${address} can't be fetched`;
    await run(what, 'fetch', ...quietly, 'origin', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*');
    const head = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(await run(what, 'ls-remote', '--symref', 'origin', 'HEAD'));
    if (head) await run("git can't choose the default branch", 'symbolic-ref', 'HEAD', head[1]!);
    // Git does not know this file.
    writeFileSync(join(folder, 'FETCHED'), '');
  }
}

/** What `git init` found out about the file system. */
const OF_SYSTEM = /^\s*(filemode|ignorecase|precomposeunicode|symlinks) = "?(true|false)"?$/gm;

/** Also before each fetch, which has your credentials. An agent may have put a link in their place. */
function writeSettings(folder: string, address: string): void {
  const config = join(folder, 'config');
  const text = lstatSync(config, { throwIfNoEntry: false })?.isFile() ? readFileSync(config, 'utf8') : '';
  for (const name of ['config.worktree', 'commondir', 'hooks', 'info']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const settings: Settings = [
    ['core.repositoryformatversion', '0'],
    ['core.bare', 'true'],
    ...[...text.matchAll(OF_SYSTEM)].map(([, name, value]) => [`core.${name}`, value!] as const),
    ['remote.origin.url', address],
  ];
  writeIfNew(config, renderSettings(settings));
}

/** Readable, and different for different addresses. */
function nameOf(address: string): string {
  const hash = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const name = basename(address.replace(/\/+$/, ''), '.git').replace(/[^\w.-]/g, '-');
  return `${name}-${hash}.git`;
}
