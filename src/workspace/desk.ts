import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Change, parseChange } from '../core/workspace/change.ts';
import { copyIndex } from './copy-index.ts';
import { writeDeskSettings } from './desk-settings.ts';
import { type Foreign, largeFiles, WHY_NOT } from './foreign.ts';
import { askGit, type Git, GitFailure, type GitResult } from './git.ts';
import type { Source } from './source.ts';
import { allBut, unmovedIn } from './submodules.ts';
import { type Transfer, type TreeReader, transferFiles } from './transfer.ts';
import { ENGINE } from './worktree.ts';

export interface DeskOptions {
  /** Where the desk is: agents can't write there. */
  readonly folder: string;
  /** The working tree whose state it commits. */
  readonly workspace: string;
  /** Undefined for a folder without git. */
  readonly source: Source | undefined;
  /** The branch that commits are made on, without `refs/heads/`. */
  readonly branch: string;
  /** Files that are never part of a change, relative to the top. */
  readonly included?: readonly string[] | undefined;
}

export interface NewCommit {
  readonly tree: string;
  readonly message: string;
  /** `Name <address>`; undefined: as git is configured. */
  readonly author?: string | undefined;
}

export type Committed =
  | { readonly kind: 'committed'; readonly commit: string }
  | { readonly kind: 'unchanged' }
  /** By a hook, or because git is not configured. */
  | { readonly kind: 'refused'; readonly reason: string };

/** A tree that is kept, and how. */
export interface KeptTree {
  readonly name: string;
  readonly parent: string | undefined;
  readonly message: string;
}

const SUBMODULE = '160000';
const UNCOMPARED = "git can't compare";

/**
 * A repository of the engine's own over a workspace. Agents can write the workspace's repository: its configuration,
 * its hooks, its branches. Here they can't, so what the engine compares and commits is what the files hold, with hooks
 * and configuration as they were when the run began. Its objects are found by the workspace's repository and those of
 * that repository are found here.
 */
export class Desk implements TreeReader {
  readonly #git: Git;
  readonly #options: DeskOptions;
  readonly #signal: AbortSignal;
  #unread: readonly Foreign[] = [];

  private constructor(git: Git, options: DeskOptions, signal: AbortSignal) {
    this.#git = git;
    this.#options = options;
    this.#signal = signal;
  }

  /** Makes it, or opens the one of an earlier run. Its configuration and hooks are those of `source`. */
  static async open(git: Git, options: DeskOptions, signal: AbortSignal): Promise<Desk> {
    const { folder, source, branch } = options;
    const desk = new Desk(git, options, signal);
    if (!existsSync(join(folder, 'info', 'exclude'))) {
      // Without this file it may be half made.
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const format = `--object-format=${source?.objectFormat ?? 'sha1'}`;
      const args = ['init', '--quiet', '--bare', '--template=', format, `--initial-branch=${branch}`, '.'];
      await askGit(git, "git can't prepare a repository", { folder, args, signal });
    }
    writeDeskSettings(options);
    return desk;
  }

  /** The same desk for a call with its own signal. */
  with(signal: AbortSignal): Desk {
    return new Desk(this.#git, this.#options, signal);
  }

  get folder(): string {
    return this.#options.folder;
  }

  /** The change against `base` (a commit or tree; undefined: nothing), as the files were read last. */
  async change(base: string | undefined): Promise<Change> {
    const from = base ?? (await this.#emptyTree());
    const plainly = ['--cached', '--no-renames', '--no-ext-diff', '--no-textconv', '-z'];
    const diff = (kind: string) => this.#ask(UNCOMPARED, 'diff', ...plainly, kind, from);
    const { files } = parseChange(await diff('--numstat'), await diff('--name-status'));
    return { files: [...files, ...this.#unread.map(({ path }) => ({ path, kind: 'added' as const }))] };
  }

  /** One commit on top of `base` with a tree. The files may hold more: hooks find it there, as in a commit of yours. */
  async commit(base: string | undefined, { tree, message, author }: NewCommit): Promise<Committed> {
    if (tree === (await this.treeOf(base))) return { kind: 'unchanged' };
    const index = await this.indexOf(tree);
    const large = await this.#withoutLfs(base, index);
    if (large !== undefined) return { kind: 'refused', reason: `${large} belongs to Git LFS, which is not installed` };
    await this.#pointTo(base);
    const args = ['commit', '--quiet', '--file=-', '--cleanup=whitespace', ...(author ? [`--author=${author}`] : [])];
    const result = await this.#git.run(this.#call(args, message, index));
    if (result.kind === 'refused') return { kind: 'refused', reason: result.said.trim() || `exit code ${result.code}` };
    if (result.kind === 'not-run') throw new GitFailure("git can't commit", result);
    return { kind: 'committed', commit: (await this.#ask('git lost its commit', 'rev-parse', 'HEAD')).trim() };
  }

  /** Gives the files of the workspace the content of a commit. What git ignores stays. Undefined: no files. */
  async checkOut(commit: string | undefined): Promise<void> {
    const target = commit ?? (await this.#emptyTree());
    await this.#ask("git can't write the files of the workspace", 'read-tree', '--reset', '-u', target);
  }

  /** The tree of what the files of the workspace hold now. */
  async tree(base: string | undefined): Promise<string> {
    await this.#stage(base);
    return (await this.#ask("git can't write a tree", 'write-tree')).trim();
  }

  async treeOf(commit: string | undefined): Promise<string> {
    if (commit === undefined) return this.#emptyTree();
    return (await this.#ask(`the desk has no commit ${commit}`, 'rev-parse', `${commit}^{tree}`)).trim();
  }

  /** Keeps a tree as a commit of the engine's own, under `refs/nightshift/`. No hooks run. */
  async keep(tree: string, { name, parent, message }: KeptTree): Promise<string> {
    const parents = parent === undefined ? [] : ['-p', parent];
    const made = await askGit(this.#git, "git can't keep a tree", {
      ...this.#call(['commit-tree', tree, ...parents, '-F', '-'], message),
      env: { ...this.#call([]).env, ...ENGINE },
    });
    await this.#ask("git can't keep a commit", 'update-ref', `refs/nightshift/${name}`, made.trim());
    return made.trim();
  }

  async transfer(transfer: Transfer): Promise<string> {
    const index = `${this.index}-transfer`;
    const ask = (args: readonly string[], input?: string) =>
      askGit(this.#git, UNCOMPARED, this.#call(args, input, index));
    const tree = await transferFiles(ask, transfer);
    rmSync(index, { force: true });
    return tree;
  }

  /** The names under `refs/nightshift/` that begin with `prefix`. */
  async kept(prefix: string): Promise<string[]> {
    const args = ['for-each-ref', '--format=%(refname:lstrip=2)', `refs/nightshift/${prefix}`];
    return (await this.#ask("git can't list what is kept", ...args)).split('\n').filter((name) => name !== '');
  }

  /** What could not be read when the files were read last. */
  get unread(): string[] {
    return this.#unread.map(({ path }) => path);
  }

  /**
   * What the commit would not hold: folders that became repositories of their own, submodules that were moved to
   * another commit, and what git can't read. As the files were read last.
   */
  async foreign(base: string | undefined): Promise<Foreign[]> {
    const from = base ?? (await this.#emptyTree());
    const raw = await this.#ask(UNCOMPARED, 'diff', '--cached', '--raw', '--no-renames', '-z', from);
    const fields = raw.split('\0');
    const found: Foreign[] = [];
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [, before, after, commit = ''] = /^:(\d+) (\d+) \w+ (\w+)/.exec(fields[at]!) ?? [];
      const kind = before === SUBMODULE ? 'submodule' : 'repository';
      if (after === SUBMODULE) found.push({ path: fields[at + 1]!, kind, commit });
    }
    return [...found, ...this.#unread];
  }

  /** Why the commit would lack something of the work, as the files were read last. */
  async refusal(base: string | undefined): Promise<string | undefined> {
    for (const { path, kind, commit } of await this.foreign(base)) {
      if (kind !== 'submodule' || !(await this.#isKnown(path, commit))) return `${path} ${WHY_NOT[kind]}`;
    }
    return undefined;
  }

  /** Reads the files of the workspace into the index; unchanged ones are known by their times. */
  async #stage(base: string | undefined): Promise<void> {
    const isNew = !existsSync(this.index);
    if (isNew) {
      const args = base === undefined ? ['read-tree', '--empty'] : ['read-tree', base];
      await this.#ask("git can't read the base", ...args);
    }
    const changed = await this.#list('--others', '--modified');
    // What a copy of a folder holds at first is no change.
    const large = isNew && base === undefined ? [] : largeFiles(this.#options.workspace, changed);
    const unmoved = unmovedIn(await this.#ask("git can't list files", 'ls-files', '--stage', '-z'), changed);
    const add = ['add', '--all', '--ignore-errors', '--pathspec-from-file=-', '--pathspec-file-nul'];
    const added = await this.#run(add, allBut([...large, ...unmoved]).join('\0'));
    const unread = added.kind === 'done' ? [] : await this.#listUnread(added, large);
    this.#unread = [...unread, ...large.map((path) => ({ path, kind: 'large' as const }))];
  }

  /** Whether the main checkout has this commit of a submodule: otherwise only the workspace has it. */
  async #isKnown(path: string, commit = ''): Promise<boolean> {
    const folder = join(this.#options.source?.folder ?? '', path);
    if (!existsSync(join(folder, '.git'))) return false;
    const args = ['-c', 'core.hooksPath=/dev/null', 'cat-file', '-e', `${commit}^{commit}`];
    return (await this.#git.run({ folder, args, signal: this.#signal })).kind === 'done';
  }

  async #list(...which: string[]): Promise<string[]> {
    const listed = await this.#ask("git can't list files", 'ls-files', ...which, '--exclude-standard', '-z');
    return listed.split('\0').filter((path) => path !== '');
  }

  /** What `add` could not read: it is not in the index yet. A folder among it is a repository without a commit. */
  async #listUnread(added: Exclude<GitResult, { kind: 'done' }>, large: readonly string[]): Promise<Foreign[]> {
    const failure = new GitFailure("git can't read the workspace", added);
    const left = failure.isTrouble ? [] : await this.#list('--others', '--modified');
    const paths = [...new Set(left)].filter((path) => !large.includes(path));
    if (paths.length === 0) throw failure;
    return paths.map((path) => ({ path, kind: path.endsWith('/') ? 'repository' : 'unreadable' }));
  }

  /** A changed file that would be committed as it is, in place of a pointer. */
  async #withoutLfs(base: string | undefined, index: string): Promise<string | undefined> {
    if (this.#options.source?.hasLfs !== false) return undefined;
    const diff = ['diff', '--cached', '--name-only', '--no-renames', '--diff-filter=d', '-z'];
    const call = (args: readonly string[], input?: string) => this.#call(args, input, index);
    const paths = await askGit(this.#git, UNCOMPARED, call([...diff, base ?? (await this.#emptyTree())]));
    const asked = call(['check-attr', '--cached', '-z', '--stdin', 'filter'], paths);
    const fields = (await askGit(this.#git, "git can't read attributes", asked)).split('\0');
    return fields.find((_, at) => at % 3 === 0 && fields[at + 2] === 'lfs');
  }

  async #pointTo(base: string | undefined): Promise<void> {
    const ref = `refs/heads/${this.#options.branch}`;
    await this.#ask("git can't choose the branch", 'symbolic-ref', 'HEAD', ref);
    const args = base === undefined ? ['update-ref', '-d', ref] : ['update-ref', ref, base];
    await this.#ask("git can't move the branch to its base", ...args);
  }

  async #emptyTree(): Promise<string> {
    return (await askGit(this.#git, "git can't make a tree", this.#call(['mktree'], ''))).trim();
  }

  /** A copy of the index at a commit or tree, with the times of files. */
  async indexOf(commit: string | undefined): Promise<string> {
    const file = `${this.index}-copy`;
    copyIndex(this.index, file);
    const args = ['read-tree', '--reset', commit ?? (await this.#emptyTree())];
    await askGit(this.#git, "git can't read the base", this.#call(args, undefined, file));
    return file;
  }

  get index(): string {
    return join(this.#options.folder, 'index');
  }

  #ask(what: string, ...args: string[]): Promise<string> {
    return askGit(this.#git, what, this.#call(args));
  }

  #run(args: readonly string[], input: string): Promise<GitResult> {
    return this.#git.run(this.#call(args, input));
  }

  #call(args: readonly string[], input?: string, index = this.index) {
    const { folder, workspace, source } = this.#options;
    const env = {
      ...{ GIT_DIR: folder, GIT_WORK_TREE: workspace, GIT_INDEX_FILE: index },
      // The settings of a source have those of the person, as they apply to that repository.
      ...(source ? { GIT_CONFIG_GLOBAL: '/dev/null' } : {}),
    };
    return { folder: workspace, args, env, signal: this.#signal, ...(input === undefined ? {} : { input }) };
  }
}
