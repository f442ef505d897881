import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Change, type ChangedFile, parseChange } from '../core/workspace/change.ts';
import { copyIndex } from './copy-index.ts';
import { largeFiles } from './foreign.ts';
import { askGit, type Git } from './git.ts';
import { allBut, unmovedIn } from './submodules.ts';
import { type AskWithIndex, type Transfer, type TreeReader, transferFiles } from './transfer.ts';

/** What the files of a workspace hold. */
export interface FilesFound {
  readonly tree: string;
  /** Changed files that are not in the tree: nobody reads them to show a change. */
  readonly tooLarge?: readonly ChangedFile[];
}

/** A change: from a commit or tree (undefined: from nothing) to a tree. */
export interface Span extends FilesFound {
  readonly base: string | undefined;
}

/** A command or a page waits for the answer. */
const MOST_MS = 2 * 60_000;
const MOST_COMPARED_BYTES = 16_000_000;

/** For a commit that is only compared, never kept. */
const NOBODY = { NAME: 'Nightshift', EMAIL: 'nightshift@localhost' };
const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => Object.entries(NOBODY).map(([what, text]) => [`GIT_${who}_${what}`, text])),
);

/**
 * Reads what a workspace holds, also while an agent works in it. Writes only to a folder of its own: neither the
 * workspace, nor its desk, nor its repository changes.
 */
export class Reading implements TreeReader, AsyncDisposable {
  readonly #git: Git;
  readonly #folder: string;
  readonly #desk: string | undefined;
  readonly #hasSettings: boolean;
  readonly #signal: AbortSignal;

  private constructor(git: Git, folder: string, desk: string | undefined, signal: AbortSignal) {
    this.#git = git;
    this.#folder = folder;
    this.#desk = desk;
    this.#hasSettings = desk !== undefined && existsSync(join(desk, 'objects', 'info', 'alternates'));
    this.#signal = signal;
  }

  /** `desk`: its configuration is that of the start of the run. Without one, `repository` has the objects. */
  static async open(
    git: Git,
    { desk: wanted, repository }: { readonly desk?: string; readonly repository: string },
    signal: AbortSignal,
  ): Promise<Reading> {
    const desk = wanted !== undefined && existsSync(join(wanted, 'HEAD')) ? wanted : undefined;
    const [objects = '', format = 'sha1'] = desk ? [join(desk, 'objects')] : await storeOf(git, repository, signal);
    const folder = await mkdtemp(join(tmpdir(), 'nightshift-reading-'));
    await mkdir(join(folder, 'objects', 'info'), { recursive: true });
    await mkdir(join(folder, 'refs'));
    await mkdir(join(folder, 'info'));
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
    if (objects !== '') await writeFile(join(folder, 'objects', 'info', 'alternates'), `${objects}\n`);
    if (desk !== undefined) {
      await copyFile(join(desk, 'config'), join(folder, 'config'));
      for (const file of ['info/exclude', 'shallow']) await copyIfThere(join(desk, file), join(folder, file));
    } else await writeFile(join(folder, 'config'), plainConfig(format));
    return new Reading(git, folder, desk, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** What the files of a workspace hold now. */
  async files(workspace: string, base: string | undefined): Promise<FilesFound> {
    const what = `git can't read ${workspace}`;
    // Unchanged files are known by their times in the index.
    const index = this.#desk && join(this.#desk, 'index');
    const hasTimes = index !== undefined && existsSync(index);
    if (hasTimes) copyIndex(index, join(this.#folder, 'index'));
    else await this.#ask(what, base === undefined ? ['read-tree', '--empty'] : ['read-tree', base]);
    const there = { env: { GIT_WORK_TREE: workspace }, folder: workspace };
    const print = (...which: string[]) => this.#ask(what, ['ls-files', '-z', ...which], there);
    const list = async (...which: string[]) => (await print(...which)).split('\0').filter((path) => path !== '');
    // Without times, git would read them to find out whether they are changed.
    const unknown = hasTimes ? [] : largeFiles(workspace, await list('--cached'), Number.POSITIVE_INFINITY);
    if (unknown.length > 0) {
      const leave = ['update-index', '--skip-worktree', '-z', '--stdin'];
      await this.#ask(what, leave, { ...there, input: unknown.join('\0') });
    }
    const others = await list('--others', '--exclude-standard');
    const modified = await list('--modified');
    const large = [...unknown, ...largeFiles(workspace, [...others, ...modified])];
    const unmoved = unmovedIn(await print('--stage'), modified);
    // What is read again each time need not be small.
    const add = ['-c', 'core.looseCompression=0', 'add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'];
    await this.#ask(what, add, { ...there, input: allBut([...large, ...unmoved]).join('\0') });
    const tree = (await this.#ask(what, ['write-tree'])).trim();
    const kindOf = (path: string) => (others.includes(path) ? 'added' : 'changed');
    const tooLarge = large.map((path): ChangedFile => ({ path, kind: kindOf(path), isTooLarge: true }));
    return tooLarge.length === 0 ? { tree } : { tree, tooLarge };
  }

  /** The tree of a commit; undefined if there is no such commit. Without a commit: the empty tree. */
  async treeOf(commit: string | undefined): Promise<string | undefined> {
    if (commit === undefined) return (await this.#ask("git can't make a tree", ['mktree'], { input: '' })).trim();
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${commit}^{tree}`];
    const found = await this.#git.run(this.#call(args));
    return found.kind === 'done' ? found.text.trim() : undefined;
  }

  transfer(transfer: Transfer): Promise<string> {
    const env = { GIT_INDEX_FILE: join(this.#folder, 'index-transfer') };
    const ask: AskWithIndex = (args, input) =>
      this.#ask("git can't compare", args, { env, ...(input === undefined ? {} : { input }) });
    return transferFiles(ask, transfer);
  }

  async change(span: Span): Promise<Change> {
    const diff = async (kind: string) =>
      this.#ask("git can't compare", ['diff', ...PLAIN, '--no-renames', '-z', kind, ...(await this.#sides(span))]);
    const { files } = parseChange(await diff('--numstat'), await diff('--name-status'));
    return { files: [...files, ...(span.tooLarge ?? [])] };
  }

  /**
   * A file with what `git diff` prints, byte for byte: files have any encoding, and a change any size. `args`: how,
   * such as `--stat`.
   */
  async diff(span: Span, args: readonly string[]): Promise<string> {
    const file = join(this.#folder, 'patch');
    const sides = await this.#sides(span);
    const quoted = ['-c', 'core.quotePath=false'];
    await this.#ask("git can't compare", [...quoted, 'diff', ...PLAIN, `--output=${file}`, ...args, ...sides]);
    return file;
  }

  /**
   * Whether a commit holds the change already: merging it would change nothing, or a commit of its history makes the
   * same change. A squash merge can't be seen by ancestry.
   */
  async isPartOf(span: Span, target: string): Promise<boolean> {
    if (span.tooLarge !== undefined) return false;
    const parent = span.base === undefined ? [] : ['-p', span.base];
    const env = IDENTITY;
    const made = await this.#git.run(this.#call(['commit-tree', '-m', 'change', ...parent, span.tree], { env }));
    if (made.kind !== 'done') return false;
    const commit = made.text.trim();
    const merged = await this.#git.run(this.#call(['merge-tree', '--write-tree', target, commit]));
    if (merged.kind === 'done' && merged.text.trim() === (await this.treeOf(target))) return true;
    const sides = `${target}...${commit}`;
    const marked = await this.#git.run(this.#call(['rev-list', '--cherry-mark', '--left-only', '--no-merges', sides]));
    const alike = marked.kind === 'done' ? [...marked.text.matchAll(/^=(\w+)$/gm)].map(([, each]) => each!) : [];
    for (const each of alike) if (await this.#isSameChange(span, each)) return true;
    return false;
  }

  /** Git calls changes alike that differ in white space. A change that can't be compared in memory is another one. */
  async #isSameChange(span: Span, commit: string): Promise<boolean> {
    const parent = await this.#git.run(this.#call(['rev-parse', '--verify', '--quiet', `${commit}^`]));
    const [own, other] = [span, { base: parent.kind === 'done' ? parent.text.trim() : undefined, tree: commit }];
    const patches: string[] = [];
    for (const each of [own, other]) {
      const file = await this.diff(each, ['--binary', '--full-index', '--no-renames']);
      if ((await stat(file)).size > MOST_COMPARED_BYTES) return false;
      // Where it is in a file, and what else that file holds, may differ.
      patches.push((await readFile(file, 'latin1')).replace(/^(?:index |@@ ).*$/gm, ''));
    }
    return patches[0] === patches[1];
  }

  async #sides({ base, tree }: Span): Promise<string[]> {
    return [base ?? (await this.treeOf(undefined))!, tree];
  }

  #ask(what: string, args: readonly string[], more: CallParts = {}): Promise<string> {
    return askGit(this.#git, what, this.#call(args, more));
  }

  #call(args: readonly string[], { env = {}, ...more }: CallParts = {}) {
    const own = {
      ...{ GIT_DIR: this.#folder, GIT_INDEX_FILE: join(this.#folder, 'index') },
      // The settings of a desk over a repository have those of the person.
      ...(this.#hasSettings ? { GIT_CONFIG_GLOBAL: '/dev/null' } : {}),
    };
    return { folder: this.#folder, args, signal: this.#signal, withinMs: MOST_MS, ...more, env: { ...own, ...env } };
  }
}

interface CallParts {
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly input?: string;
}

/** No program that attributes or configuration name prints the difference. */
const PLAIN = ['--no-ext-diff', '--no-textconv', '--no-color'];

/** Where a repository has its objects, and their format; empty if there is no repository. */
async function storeOf(git: Git, folder: string, signal: AbortSignal): Promise<string[]> {
  if (!existsSync(folder)) return [];
  const args = ['rev-parse', '--path-format=absolute', '--git-path', 'objects', '--show-object-format'];
  const found = await git.run({ folder, args, signal });
  return found.kind === 'done' ? found.text.trim().split('\n') : [];
}

function plainConfig(format: string): string {
  if (format !== 'sha256') return '[core]\n\trepositoryformatversion = 0\n';
  return '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n';
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if (existsSync(from)) await copyFile(from, to);
}
