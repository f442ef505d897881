import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { hasLogin, LOGIN_PROBLEM, LOGIN_REMEDY } from '../core/workspace/login.ts';
import type { WorkspaceRequest } from '../core/workspace/workspaces.ts';
import { Bases, NotThere } from './base.ts';
import { Gone } from './failure.ts';
import type { Git } from './git.ts';
import { isAddress, Mirrors, type RepositoryLock } from './mirror.ts';
import { promisorIn } from './partial-clone.ts';
import type { WorkspaceRecord } from './records.ts';
import { parseSettings } from './settings.ts';
import type { Source } from './source.ts';
import { Sources } from './sources.ts';

/** What a workspace is made from. */
export interface Origin {
  /** The path of the repository or folder, or the address of a remote. */
  readonly from: string;
  /** Undefined for a folder without git. */
  readonly source: Source | undefined;
  /** `working-dir`, relative to the top of the workspace. */
  readonly below: string;
  /** Where `include` finds its files. */
  readonly files: string;
}

export interface OriginOptions {
  readonly git: Git;
  /** The project. */
  readonly root: string;
  /** For copies of hooks and configuration; agents can't write there. */
  readonly sources: string;
  readonly mirrors: string;
  readonly lock: RepositoryLock;
  now(): number;
  warn(message: string): void;
}

type Wanted = Pick<WorkspaceRequest, 'kind' | 'workingDir' | 'repo' | 'base' | 'into' | 'carried' | 'signal'>;

/** Finds what workspaces are made from. Throws `NotThere` or a `GitFailure`. */
export interface OriginFinder {
  /** `isKnown`: a remote need not be asked for news. */
  find(wanted: Wanted, isKnown?: boolean): Promise<Origin>;
  /** What a workspace was made from. */
  again(record: { readonly kind: Wanted['kind']; readonly from: string }, signal: AbortSignal): Promise<Origin>;
  /** The commit that `base` names now. Undefined: there is no commit yet. */
  base(origin: Origin, wanted: Wanted): Promise<string | undefined>;
}

/** Finds repositories and folders. */
export class Origins implements OriginFinder {
  readonly #options: OriginOptions;
  readonly #mirrors: Mirrors;
  readonly #bases: Bases;
  readonly #sources: Sources;
  /** Folders that rows were made from. */
  readonly #found = new Set<string>();

  constructor(options: OriginOptions) {
    this.#options = options;
    this.#mirrors = new Mirrors(options.git, options.mirrors, options);
    this.#bases = new Bases(options.git, options.now);
    this.#sources = new Sources(options.git, options.sources, options.warn);
  }

  async find(wanted: Wanted, isKnown = false): Promise<Origin> {
    if (wanted.kind === 'clone') return this.#findRemote(wanted, isKnown);
    const { workingDir } = wanted;
    if (!isFolder(workingDir)) {
      if (this.#found.has(workingDir)) throw new Gone(workingDir);
      throw new NotThere(`\`working-dir\` ${workingDir} is not a folder`);
    }
    this.#found.add(workingDir);
    const folder = realpathSync(workingDir);
    if (wanted.kind === 'copy') return { from: folder, source: undefined, below: '', files: folder };
    const top = topOf(folder);
    if (top === undefined) throw new NotThere(`${workingDir} is not in a git repository`);
    const source = await this.#sources.of(top);
    const below = source.isBare ? '' : relative(source.folder, folder);
    return { from: source.folder, source, below, files: source.folder };
  }

  async again(record: { readonly kind: Wanted['kind']; readonly from: string }, signal: AbortSignal): Promise<Origin> {
    const isClone = record.kind === 'clone';
    const workingDir = isClone ? this.#options.root : record.from;
    return this.find({ kind: record.kind, workingDir, signal, ...(isClone ? { repo: record.from } : {}) }, true);
  }

  async base({ from, source }: Origin, { kind, base, into, signal }: Wanted): Promise<string | undefined> {
    if (source === undefined) return undefined;
    const merged = base === undefined && into !== undefined ? await this.#bases.tip(source, into, signal) : undefined;
    if (merged !== undefined) return merged;
    if (kind !== 'clone') return this.#bases.resolve(source, base, signal);
    const commit = await this.#mirrors.resolve(source, base, signal);
    if (commit === undefined && base !== undefined) {
      throw new NotThere(`\`base: ${base}\` names no branch, tag or commit of ${from}`);
    }
    return commit;
  }

  async #findRemote({ repo, workingDir, signal }: Wanted, isKnown: boolean): Promise<Origin> {
    const { root } = this.#options;
    if (repo === undefined) throw new NotThere('`workspace: clone` needs `repo`');
    if (hasLogin(repo)) throw new NotThere(`\`repo\` ${LOGIN_PROBLEM}: ${LOGIN_REMEDY}`);
    if (!isAddress(repo)) throw new NotThere(`\`repo: ${repo}\` is no address, and a path begins with /, ./ or ../`);
    const from = /^\.{1,2}\//.test(repo) ? resolve(root, repo) : repo;
    if (isAbsolute(from) && !existsSync(from)) throw new NotThere(`\`repo: ${repo}\` does not exist`);
    const mirror = (isKnown ? this.#mirrors.known(from) : undefined) ?? (await this.#mirror(from, signal));
    return { from, source: await this.#sources.of(mirror), below: relative(root, workingDir), files: root };
  }

  async #mirror(from: string, signal: AbortSignal): Promise<string> {
    try {
      return await this.#mirrors.fresh(from, signal);
    } catch (error) {
      const remote = await this.#promisorOf(from, signal);
      if (remote === undefined) throw error;
      // Git refuses to clone what would make it fetch.
      throw new NotThere(
        `\`repo: ${from}\` is a partial clone, which can't be cloned: give the address of its remote ${remote}, ` +
          'or use `workspace: worktree`',
      );
    }
  }

  async #promisorOf(from: string, signal: AbortSignal): Promise<string | undefined> {
    const folder = from.replace(/^file:\/\//, '');
    if (!isAbsolute(folder)) return undefined;
    const listed = await this.#options.git.run({ folder, args: ['config', '--list', '-z'], signal });
    return listed.kind === 'done' ? promisorIn(parseSettings(listed.text)) : undefined;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** The nearest folder that is a repository or has one. */
function topOf(folder: string): string | undefined {
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
  if (isBare || existsSync(join(folder, '.git'))) return folder;
  const above = dirname(folder);
  return above === folder ? undefined : topOf(above);
}

/** The settings of a shift may have changed since the workspace was made. */
export function refuseOther(record: WorkspaceRecord, { kind }: WorkspaceRequest, { from }: Origin): void {
  if (record.kind === kind && record.from === from) return;
  throw new NotThere(
    `row ${record.row} has a workspace already, a ${record.kind} of ${record.from} in ${record.folder}, and now a ` +
      `${kind} of ${from} is asked for: deliver or remove the old one first`,
  );
}
