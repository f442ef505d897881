import { join, resolve } from 'node:path';

/** One call of git. */
interface GitCall {
  readonly folder: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly signal: AbortSignal;
}

/** `refused`: git ran and failed. `not-run`: it is not installed, took too long, or the system is out of resources. */
export type GitAnswer = { readonly kind: 'printed'; readonly text: string } | { readonly kind: 'refused' | 'not-run' };

export interface Git {
  /** Must not run any program that a repository, its configuration or an agent names. */
  run(call: GitCall): Promise<GitAnswer>;
  /** The ignore file that git reads if `core.excludesFile` is not set. */
  readonly defaultExcludes: string;
}

/** A working tree, and what decides which files git lists in it. Fixed when a watch begins. */
export interface Repository {
  readonly top: string;
  /** Keeps git to this repository and these ignore rules, whatever its configuration says by then. */
  readonly options: readonly string[];
  /** Files that decide what git lists and may not be listed themselves. */
  readonly rules: readonly string[];
  /** Of these, ignore rules of this machine only. */
  readonly own: ReadonlySet<string>;
}

/** Absolute paths. A folder among `files` is a submodule or another repository. */
export interface Listing {
  readonly files: readonly string[];
  /** What git ignores: files, and folders, which end in `/` and are not walked. */
  readonly ignored: ReadonlySet<string>;
}

/** The repository that a folder is in; undefined outside of git. */
export async function openRepository(git: Git, folder: string, signal: AbortSignal): Promise<Repository | undefined> {
  const paths = ['info/exclude', 'config', 'config.worktree'];
  const asked = paths.flatMap((path) => ['--git-path', path]);
  const [found, set] = await Promise.all([
    git.run({ folder, args: ['rev-parse', '--show-toplevel', '--absolute-git-dir', ...asked], signal }),
    git.run({ folder, args: ['config', '--type=path', '--default', '', '--get', 'core.excludesFile'], signal }),
  ]);
  if (found.kind !== 'printed' || set.kind !== 'printed') return undefined;
  const [top, gitDir, ...rules] = found.text.replace(/\n$/, '').split('\n');
  if (top === undefined || gitDir === undefined || rules.length !== paths.length) return undefined;
  const excludes = set.text.replace(/\n$/, '') || git.defaultExcludes;
  const own = [resolve(folder, rules[0]!), resolve(top, excludes)];
  return {
    top,
    own: new Set(own),
    options: [`--git-dir=${gitDir}`, `--work-tree=${top}`, '-c', `core.excludesFile=${excludes}`],
    rules: [...rules.map((file) => resolve(folder, file)), resolve(top, excludes), join(top, '.git')],
  };
}

/** All files that git tracks or would add, and what it ignores; or why git can't list them. */
export async function listRepository(
  git: Git,
  { top, options }: Repository,
  signal: AbortSignal,
): Promise<Listing | Exclude<GitAnswer['kind'], 'printed'>> {
  const list = (...args: string[]) =>
    git.run({ folder: top, args: [...options, 'ls-files', '-z', '--exclude-standard', ...args], signal });
  const [files, ignored] = await Promise.all([
    list('--cached', '--others'),
    list('--others', '--ignored', '--directory'),
  ]);
  if (files.kind !== 'printed') return files.kind;
  if (ignored.kind !== 'printed') return ignored.kind;
  const absolute = (text: string) => names(text).map((name) => `${top}/${name}`);
  return { files: absolute(files.text).map(withoutSlash), ignored: new Set(absolute(ignored.text)) };
}

/**
 * Which file of rules makes git ignore each path; `''` for a folder that is ignored because of rules inside it.
 * Undefined if git can't tell.
 */
export async function rulesBehind(
  git: Git,
  { top, options }: Repository,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, string> | undefined> {
  if (paths.length === 0) return new Map();
  const args = [...options, 'check-ignore', '--verbose', '--non-matching', '-z', '--stdin'];
  const input = paths.map((path) => `${path}\0`).join('');
  const answer = await git.run({ folder: top, args, input, signal });
  if (answer.kind !== 'printed') return undefined;
  const fields = names(answer.text);
  const behind = new Map<string, string>();
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const rules = fields[at]!;
    behind.set(fields[at + 3]!, rules === '' ? '' : resolve(top, rules));
  }
  return behind;
}

/** Whether a path is in one of these folders, which end in `/`. */
export function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf('/', path.length - 2); at > 0; at = path.lastIndexOf('/', at - 1)) {
    if (folders.has(path.slice(0, at + 1))) return true;
  }
  return false;
}

/** Empty names are fields without a value. */
function names(text: string): string[] {
  return text.split('\0').slice(0, -1);
}

export function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

/** Absolute paths. */
export interface TrackedFiles {
  readonly files: readonly string[];
  /** Of these, symbolic links. */
  readonly links: readonly string[];
}

const LINK_MODE = '120000';
const SUBMODULE_MODE = '160000';

/** What git tracks in a repository, its submodules and the repositories inside of it. */
export async function listTracked(
  git: Git,
  repository: Repository,
  signal: AbortSignal,
): Promise<TrackedFiles | undefined> {
  const files: string[] = [];
  const links: string[] = [];
  const left = [repository];
  for (let next = left.pop(); next; next = left.pop()) {
    const { top, options } = next;
    const list = (...args: string[]) => git.run({ folder: top, args: [...options, 'ls-files', '-z', ...args], signal });
    const [cached, others] = await Promise.all([list('--stage'), list('--others', '--exclude-standard')]);
    if (cached.kind !== 'printed' || others.kind !== 'printed') return undefined;
    const folders = names(others.text).filter((name) => name.endsWith('/'));
    for (const entry of names(cached.text)) {
      // MODE HASH STAGE, a tab, and the path.
      const path = entry.slice(entry.indexOf('\t') + 1);
      if (entry.startsWith(SUBMODULE_MODE)) folders.push(path);
      else files.push(`${top}/${path}`);
      if (entry.startsWith(LINK_MODE)) links.push(`${top}/${path}`);
    }
    for (const folder of folders) {
      const inner = join(top, folder.replace(/\/$/, ''));
      const nested = await openRepository(git, inner, signal);
      if (nested?.top === inner) left.push(nested);
    }
  }
  return { files, links };
}
