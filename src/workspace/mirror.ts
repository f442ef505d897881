import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { askGit, type Git } from './git.ts';
import { removeLocks } from './left-locks.ts';
import { OnceAMinute } from './once-a-minute.ts';
import { parseSettings, renderSettings, type Settings } from './settings.ts';
import { inSource, type Source } from './source.ts';

/** Addresses as git knows them, and paths; anything else could be an option of git, or run a program (`ext::`). */
const ADDRESS = /^(https?:\/\/|ssh:\/\/|git:\/\/|file:\/\/|\/|\.{1,2}\/|[\w.-]+@[\w.-]+:)/;

export function isAddress(text: string): boolean {
  return ADDRESS.test(text) && !/[\0\n\r]/.test(text);
}

/** What `git init` finds out about the file system. */
const FOUND = /^core\.(filemode|ignorecase|precomposeunicode|symlinks)$/;

/** Held while a repository is changed, also by other processes. */
export type RepositoryLock = (repository: string) => Promise<Disposable>;

/** Local copies of remote repositories, shared by all shifts of a person. */
export class Mirrors {
  readonly #git: Git;
  readonly #folder: string;
  readonly #lock: RepositoryLock;
  readonly #fetches: OnceAMinute;

  constructor(git: Git, folder: string, { lock, now }: { readonly lock: RepositoryLock; readonly now: () => number }) {
    this.#git = git;
    this.#folder = folder;
    this.#lock = lock;
    this.#fetches = new OnceAMinute(now);
  }

  /** The mirror as it is; undefined: there is none yet. */
  known(address: string): string | undefined {
    const folder = join(this.#folder, nameOf(address));
    return existsSync(join(folder, 'FETCHED')) ? folder : undefined;
  }

  /** Returns the folder of a bare repository that was fetched within the last minute. */
  async fresh(address: string, signal: AbortSignal): Promise<string> {
    const folder = join(this.#folder, nameOf(address));
    await this.#fetches.run(folder, async () => {
      mkdirSync(folder, { recursive: true });
      using _lock = await this.#lock(folder);
      await this.#fetch(address, folder, signal);
    });
    return folder;
  }

  /** The commit that the remote's default branch or `base` names; undefined if it has no commits. */
  async resolve(mirror: Source, base: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const names = base === undefined ? ['HEAD'] : [`refs/heads/${base}`, `refs/tags/${base}`, base];
    for (const name of names) {
      const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
      const found = await this.#git.run(inSource(mirror, args, signal));
      if (found.kind === 'done') return found.text.trim();
    }
    return undefined;
  }

  async #fetch(address: string, folder: string, signal: AbortSignal): Promise<void> {
    const hooks = ['-c', 'core.hooksPath=/dev/null'];
    const run = (what: string, ...args: string[]) =>
      askGit(this.#git, what, { folder, args: [...hooks, ...args], signal, isRemote: true }).then((text) =>
        text.trim(),
      );
    removeLocks(folder);
    // A kill may have left it half made.
    if (!existsSync(join(folder, 'FETCHED'))) {
      await run("git can't prepare a mirror", 'init', '--quiet', '--bare', '--template=', '--object-format=sha1', '.');
    }
    await this.#configure(address, folder, signal);
    const quietly = ['--quiet', '--prune', '--no-write-fetch-head', '--no-auto-maintenance'];
    const what = `${address} can't be fetched`;
    await run(what, 'fetch', ...quietly, 'origin', '+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*');
    const head = /^ref: (refs\/heads\/\S+)\tHEAD$/m.exec(await run(what, 'ls-remote', '--symref', 'origin', 'HEAD'));
    if (head) await run("git can't choose the default branch", 'symbolic-ref', 'HEAD', head[1]!);
    // Git does not know this file.
    writeFileSync(join(folder, 'FETCHED'), '');
  }

  /** Before each fetch, which has your credentials: an agent may have written programs into the configuration. */
  async #configure(address: string, folder: string, signal: AbortSignal): Promise<void> {
    const config = join(folder, 'config');
    const args = ['config', '--file', config, '--list', '-z'];
    // Not in the mirror: git would read its configuration first, and fail if it is broken.
    const listed = await this.#git.run({ folder: '/', args, signal });
    const found = listed.kind === 'done' ? parseSettings(listed.text) : [];
    const settings: Settings = [
      ['core.repositoryformatversion', '0'],
      ['core.bare', 'true'],
      ...found.filter(([key, value]) => FOUND.test(key) && /^(true|false)$/.test(value)),
      ['remote.origin.url', address],
    ];
    writeFileSync(config, renderSettings(settings), { mode: 0o600 });
  }
}

/** Readable, and different for different addresses. */
function nameOf(address: string): string {
  const hash = createHash('sha256').update(address).digest('hex').slice(0, 12);
  const name = basename(address.replace(/\/+$/, ''), '.git').replace(/[^\w.-]/g, '-');
  return `${name}-${hash}.git`;
}
