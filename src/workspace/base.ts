import { join } from 'node:path';
import { Desk } from './desk.ts';
import { FETCH, type Git, GitFailure, tryGit } from './git.ts';
import { OnceAMinute } from './once-a-minute.ts';
import { settingIn } from './settings.ts';
import { inSource, type Source } from './source.ts';

/** A branch of a remote. */
interface RemoteBranch {
  readonly remote: string;
  readonly branch: string;
}

/** The row asked for something that is not there. */
export class NotThere extends Error {}

/** Finds the commits that workspaces begin with. */
export class Bases {
  readonly #git: Git;
  readonly #fetches: OnceAMinute;
  /** For what is fetched, by folder. */
  readonly #desks = new Map<string, Promise<Desk>>();

  constructor(git: Git, now: () => number) {
    this.#git = git;
    this.#fetches = new OnceAMinute(now);
  }

  /**
   * The commit that `base` names now; undefined: the repository has none yet. A branch that has a counterpart on a
   * remote is fetched first, without touching the branches that the person sees. The remote's commit counts, unless
   * the person's own branch contains it.
   */
  async resolve(source: Source, base: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const find = (name: string) => this.#commit(source, name, signal);
    if (base === undefined) return find('HEAD');
    const counterpart = await this.#counterpart(source, base, find);
    if (counterpart === undefined) return (await find(base)) ?? notThere(source, base);
    const theirs = await this.#fetch(source, counterpart, signal);
    const own = await find(`refs/heads/${base}`);
    if (theirs === undefined) return own ?? notThere(source, base);
    if (own === undefined || own === theirs) return theirs;
    const args = ['merge-base', '--is-ancestor', theirs, own];
    const contained = await tryGit(this.#git, `git can't compare ${base}`, inSource(source, args, signal));
    return contained === undefined ? theirs : own;
  }

  /** The last commit of a branch, if it is there. */
  tip(source: Source, branch: string, signal: AbortSignal): Promise<string | undefined> {
    return this.#commit(source, `refs/heads/${branch}`, signal);
  }

  async #counterpart(
    { settings }: Source,
    base: string,
    find: (name: string) => Promise<string | undefined>,
  ): Promise<RemoteBranch | undefined> {
    const remotes = [...new Set(settings.flatMap(([key]) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []))];
    const named = remotes.find((remote) => base.startsWith(`${remote}/`));
    if (named !== undefined) return { remote: named, branch: base.slice(named.length + 1) };
    const isBranch = (await find(`refs/heads/${base}`)) !== undefined;
    const upstream = settingIn(settings, `branch.${base}.remote`);
    const merge = settingIn(settings, `branch.${base}.merge`)?.replace(/^refs\/heads\//, '');
    if (isBranch && upstream !== undefined && remotes.includes(upstream) && merge !== undefined) {
      return { remote: upstream, branch: merge };
    }
    const remote = remotes.includes('origin') ? 'origin' : remotes.length === 1 ? remotes[0] : undefined;
    if (remote === undefined) return undefined;
    const isKnown = (await find(`refs/remotes/${remote}/${base}`)) !== undefined;
    // A branch may be new on the remote; a tag or commit that is here needs no remote.
    return isKnown || (!isBranch && (await find(base)) === undefined) ? { remote, branch: base } : undefined;
  }

  /** Undefined: the remote has no such branch. */
  async #fetch(source: Source, { remote, branch }: RemoteBranch, signal: AbortSignal): Promise<string | undefined> {
    const folder = join(source.hooks, '..', 'fetched');
    await this.#openDesk(source, folder);
    const ref = `refs/nightshift/base/${remote}/${branch}`;
    await this.#fetches.run(`${source.commonDir} ${ref}`, signal, async () => {
      const refspec = `+refs/heads/${branch}:${ref}`;
      const result = await this.#git.run({
        folder: source.folder,
        args: [...FETCH, '--end-of-options', remote, refspec],
        // Into the refs of the desk, and into the objects of the source, so that both can use them.
        env: {
          ...{ GIT_DIR: folder, GIT_CONFIG_GLOBAL: '/dev/null' },
          GIT_OBJECT_DIRECTORY: join(source.commonDir, 'objects'),
        },
        signal,
        isRemote: true,
      });
      if (result.kind === 'done') return;
      if (result.kind === 'refused' && result.said.includes("couldn't find remote ref")) return;
      throw new Unreachable(`${branch} can't be fetched from ${remote}`, result);
    });
    return this.#commit(source, ref, signal, folder);
  }

  /** Rows that start together make one, not each the same. One that is withdrawn must not end it for the others. */
  #openDesk(source: Source, folder: string): Promise<Desk> {
    const known = this.#desks.get(folder);
    if (known) return known;
    const options = { folder, workspace: source.folder, source, branch: 'none' };
    const opening = Desk.open(this.#git, options, new AbortController().signal);
    this.#desks.set(folder, opening);
    opening.catch(() => this.#desks.delete(folder));
    return opening;
  }

  async #commit(source: Source, name: string, signal: AbortSignal, desk?: string): Promise<string | undefined> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
    const call = inSource(source, args, signal);
    const asked = desk === undefined ? call : { ...call, env: { GIT_DIR: desk } };
    return (await tryGit(this.#git, `git can't find ${name}`, asked))?.trim();
  }
}

/** A base that can't be fetched is not the row's fault, whatever the remote says. */
export class Unreachable extends GitFailure {
  override readonly isTrouble = true;
}

function notThere(source: Source, base: string): never {
  throw new NotThere(`\`base: ${base}\` names no branch, tag or commit of ${source.folder}`);
}
