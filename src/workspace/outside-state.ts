import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { systemError } from '../core/model/system-errors.ts';
import { BY_PUSH, type OutsideState } from '../core/workspace/outside.ts';
import { copyIndex } from './copy-index.ts';
import type { Desk } from './desk.ts';
import { isFolder } from './enter.ts';
import { statsOf } from './foreign.ts';
import { askGit, type Git, type GitCall, GitFailure } from './git.ts';
import { parseSettings } from './settings.ts';
import { inSource, type Source } from './source.ts';
import { safely } from './worktree.ts';

/** Undefined if git can't say: then nothing is blamed. */
export type ReadState = () => Promise<OutsideState | undefined>;

/** Git writes these settings by itself: for a branch that is made, a submodule that is filled, a file of Git LFS. */
const BY_GIT = /^(branch|submodule|lfs)\./;
/** In `.git/info`. Git itself writes others, when it tidies up. */
const RULES = ['exclude', 'attributes', 'sparse-checkout'];

/** Files, index and HEAD of a main checkout; hooks, settings and branches of its repository; what was pushed from it. */
export function repositoryState(git: Git, source: Source, leftOut: string): ReadState {
  const pushes = new Pushes(source);
  const settings = unlessSame(join(source.commonDir, 'config'), () => settingsOf(git, source));
  const index = unlessSame(join(source.commonDir, 'index'), () => indexState(git, source));
  return orUndefined(async () => {
    const refs = await refsOf(git, callIn(source), BRANCHES, REMOTES);
    return new Map([
      ...marksIn(source),
      ...(await settings()),
      ...refs.filter(([ref]) => ref.startsWith(BRANCHES)),
      ...pushes.among(refs),
      ...(await index()),
      ...(await checkoutState(git, source, leftOut)),
    ]);
  });
}

const BRANCHES = 'refs/heads/';
const REMOTES = 'refs/remotes/';

type Entries = [string, string][];

/** Reads again only if the file has changed. */
function unlessSame(file: string, read: () => Promise<Entries>): () => Promise<Entries> {
  let known: { readonly mark: string; readonly entries: Entries } | undefined;
  return async () => {
    const mark = markOf(file);
    if (known?.mark !== mark) known = { mark, entries: await read() };
    return known.entries;
  };
}

/** What was pushed from a clone. The rest of it belongs to the item. */
export function cloneState(git: Git, mirror: Source, folder: string): ReadState {
  const pushes = new Pushes({ ...mirror, folder, commonDir: join(folder, '.git') });
  return orUndefined(async () => new Map(pushes.among(await refsOf(git, call(folder, safely(mirror)), REMOTES))));
}

/** The files of a workspace that differ from what its desk has read. */
export function workspaceState(git: Git, folder: string, desk: Desk): ReadState {
  return orUndefined(async () => {
    if (!isFolder(folder)) return new Map([['its folder', 'gone']]);
    const env = { GIT_DIR: desk.folder, GIT_WORK_TREE: folder, GIT_INDEX_FILE: desk.index };
    return new Map(await changedFiles({ git, folder, env }));
  });
}

/** The branches and tags of a repository on this machine. */
export function remoteState(git: Git, folder: string): ReadState {
  return orUndefined(async () => new Map(await refsOf(git, call(folder), BRANCHES, 'refs/tags/')));
}

/** The remotes of a repository that are on this machine: their folders, by name. */
export function localRemotes({ settings, folder }: Source): Map<string, string> {
  const found = settings.flatMap(([key, value]): Entries => {
    const name = /^remote\.(.+)\.(?:push)?url$/s.exec(key)?.[1];
    const path = value.replace(/^file:\/\/(?=\/)/, '');
    return name !== undefined && /^\.{0,2}\//.test(path) ? [[name, resolve(folder, path)]] : [];
  });
  return new Map(found.filter(([, path]) => existsSync(path)));
}

function orUndefined(read: () => Promise<OutsideState>): ReadState {
  return async () => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof GitFailure || systemError(error)) return undefined;
      throw error;
    }
  };
}

/** Hooks, rules and HEAD. */
function marksIn({ commonDir }: Source): Entries {
  const marked = (name: string, isMarked: (file: string) => boolean) => {
    const folder = join(commonDir, name);
    const files = statsOf(folder)?.isDirectory() ? readdirSync(folder).filter(isMarked) : [];
    return files.map((file): [string, string] => [`.git/${name}/${file}`, markOf(join(folder, file))]);
  };
  const head = join(commonDir, 'HEAD');
  return [
    ...marked('hooks', () => true),
    ...marked('info', (file) => RULES.includes(file)),
    ['HEAD', statsOf(head)?.isFile() ? readFileSync(head, 'utf8') : ''],
  ];
}

async function settingsOf(git: Git, source: Source): Promise<Entries> {
  const args = ['config', '--file', join(source.commonDir, 'config'), '--list', '-z'];
  const listed = await git.run({ ...callIn(source), args });
  if (listed.kind !== 'done') return [['.git/config', 'unreadable']];
  const settings = parseSettings(listed.text).filter(([key]) => !BY_GIT.test(key));
  const all = new Map<string, string>();
  for (const [key, value] of settings)
    all.set(`.git/config ${key}`, `${all.get(`.git/config ${key}`) ?? ''}${value}\n`);
  return [...all];
}

async function refsOf(git: Git, where: GitCall, ...below: string[]): Promise<Entries> {
  const args = [...where.args, 'for-each-ref', '--format=%(refname) %(objectname)', ...below];
  const listed = await askGit(git, "git can't list branches", { ...where, args });
  const lines = listed.split('\n').filter((line) => line !== '');
  return lines.map((line) => line.split(' ') as [string, string]);
}

/**
 * What git notes where a branch of a remote is: it says whether that is known from a push. Remotes on this machine are
 * read themselves.
 */
class Pushes {
  readonly #source: Source;
  readonly #known = new Map<string, { readonly commit: string; readonly mark: string | undefined }>();

  constructor(source: Source) {
    this.#source = source;
  }

  among(refs: Entries): Entries {
    const isRead = [...localRemotes(this.#source).keys()].map((name) => `${REMOTES}${name}/`);
    return refs.flatMap(([ref, commit]): Entries => {
      if (!ref.startsWith(REMOTES) || isRead.some((prefix) => ref.startsWith(prefix))) return [];
      const mark = this.#markOf(ref, commit);
      return mark === undefined ? [] : [[`${ref.slice(REMOTES.length)}${BY_PUSH}`, mark]];
    });
  }

  /** The commit that was pushed last. */
  #markOf(ref: string, commit: string): string | undefined {
    const known = this.#known.get(ref);
    if (known?.commit === commit) return known.mark;
    const mark = this.#isPushed(ref) ? commit : known?.mark;
    this.#known.set(ref, { commit, mark });
    return mark;
  }

  #isPushed(ref: string): boolean {
    const log = join(this.#source.commonDir, 'logs', ref);
    const lines = statsOf(log)?.isFile() ? readFileSync(log, 'utf8').trimEnd().split('\n') : [];
    return lines.at(-1)?.endsWith('\tupdate by push') ?? false;
  }
}

/** A linked working tree has its index elsewhere. */
function hasIndex({ folder, commonDir }: Source): boolean {
  return join(folder, '.git') === commonDir && (statsOf(join(commonDir, 'index'))?.isFile() ?? false);
}

/** Git may write the copy of the index. */
function checkoutOf(git: Git, source: Source): FilePlace {
  const index = join(source.standIn, 'outside-index');
  copyIndex(join(source.commonDir, 'index'), index);
  const { folder, env } = callIn(source);
  return { git, folder, env: { ...env, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index } };
}

async function indexState(git: Git, source: Source): Promise<Entries> {
  if (!hasIndex(source)) return [];
  const staged = await listFiles(checkoutOf(git, source), '--stage');
  return [['the index', createHash('sha256').update(staged).digest('hex')]];
}

/** What differs from the index. */
async function checkoutState(git: Git, source: Source, leftOut: string): Promise<Entries> {
  if (!hasIndex(source)) return [];
  const below = relative(source.folder, leftOut);
  const except = below.startsWith('..') ? [] : [`:(exclude,literal)${below}`];
  return changedFiles(checkoutOf(git, source), '.', ...except);
}

interface FilePlace {
  readonly git: Git;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What git does not ignore and the index does not have. */
async function changedFiles(place: FilePlace, ...paths: string[]): Promise<Entries> {
  const listed = await listFiles(place, '--others', '--modified', '--exclude-standard', '--', ...paths);
  const changed = listed.split('\0').filter((path) => path !== '');
  return changed.map((path) => [path, markOf(join(place.folder, path))]);
}

function listFiles({ git, folder, env }: FilePlace, ...args: string[]): Promise<string> {
  return askGit(git, "git can't list files", { ...call(folder, ['ls-files', '-z', ...args]), env });
}

function call(folder: string, args: readonly string[] = []): GitCall {
  return { folder, args, signal: new AbortController().signal };
}

/** With the settings of the start of the run: those of the repository may be an agent's. */
function callIn(source: Source): GitCall {
  return inSource(source, [], new AbortController().signal);
}

function markOf(path: string): string {
  const stats = statsOf(path);
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.mode}` : 'gone';
}
