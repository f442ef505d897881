import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { oneLine } from '../../core/text/printable.ts';
import { KITS, marked } from '../../kit/kit.ts';
import { readBatch } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { hashOf, readState } from '../../watch/file-state.ts';
import type { World } from '../world.ts';

/** The content at each path, as a hash. Paths inside the project are relative to it. */
export type SteeringFiles = Readonly<Record<string, string>>;

/** Files of OpenCode and Claude Code outside of their folders that say how their agents work. */
const BESIDE = ['opencode.json', 'opencode.jsonc', '.mcp.json', 'AGENTS.md', 'CLAUDE.md', 'CLAUDE.local.md'];
/** Files that these programs write there by themselves. */
const THEIR_OWN = /(?:^|\/)(?:node_modules|worktrees|\.gitignore|bun\.lockb?|package(?:-lock)?\.json)(?:\/|$)/;
/** At most this many files of a folder are compared; none should have more. */
const MOST_FILES = 2000;
const NAMED_AT_MOST = 10;

/**
 * Files that configure the agents of a batch, their guard or git: in the project, in the folders above it up to the
 * repository, and in the home folder. An agent with a shell can change them despite all rules, so they are compared
 * when the batch is closed (rule O2).
 */
export function readSteering(root: string, env: World['env']): SteeringFiles {
  const home = env.HOME ?? homedir();
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  const found: Record<string, string> = {};
  for (const folder of foldersUp(root)) {
    for (const name of BESIDE) note(found, root, join(folder, name));
    for (const name of ['.opencode', '.claude']) noteAll(found, root, join(folder, name));
  }
  for (const path of gitPlaces(root)) noteAll(found, root, path);
  for (const path of [env.OPENCODE_CONFIG, env.OPENCODE_CONFIG_DIR])
    if (path) noteAll(found, root, resolve(root, path));
  for (const path of [join(config, 'opencode'), join(config, 'git')]) noteAll(found, root, path);
  for (const name of ['.gitconfig', '.claude/settings.json', '.claude/CLAUDE.md']) note(found, root, join(home, name));
  noteAll(found, root, join(home, '.opencode', 'plugin'));
  return found;
}

/** As they were when the batch was opened that is taken over now; without one, as they are. */
export function steeringAtOpening(paths: ShiftPaths, env: World['env']): SteeringFiles {
  try {
    return readBatch(paths)?.batch.steering ?? readSteering(paths.root, env);
  } catch {
    return readSteering(paths.root, env);
  }
}

/** Paths that differ, and how. Files that `init` of this version writes are not reported. */
export function changedSteering(before: SteeringFiles | undefined, now: SteeringFiles): string[] {
  if (before === undefined) return [];
  const ours = new Set(
    Object.values(KITS).flatMap(({ files }) =>
      files().map((file) => `${file.path} ${hashOf(Buffer.from(marked(file)))}`),
    ),
  );
  return [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter((path) => before[path] !== now[path] && !ours.has(`${path} ${now[path]?.split(' ')[0]}`))
    .sort()
    .map((path) => {
      if (before[path] === undefined) return `${path} (new)`;
      return now[path] === undefined ? `${path} (removed)` : `${path} (changed)`;
    });
}

/** Undefined: nothing changed. */
export function steeringWarning(changed: readonly string[]): string | undefined {
  if (changed.length === 0) return undefined;
  const more = changed.length > NAMED_AT_MOST ? `, and ${changed.length - NAMED_AT_MOST} more` : '';
  const names = changed
    .slice(0, NAMED_AT_MOST)
    .map((name) => oneLine(name))
    .join(', ');
  return `files that configure agents or git changed while the batch was open: ${names}${more}; check them before you continue`;
}

/** The folder and those above it up to the repository; only itself, if it is not in one. */
function foldersUp(root: string): string[] {
  const folders: string[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    folders.push(folder);
    if (readState(join(folder, '.git')).state.kind !== 'none') return folders;
    if (folder === dirname(folder)) return [root];
  }
}

/** Settings and hooks of the repository; for a worktree, its folder is elsewhere. */
function gitPlaces(root: string): string[] {
  const dotGit = join(foldersUp(root).at(-1)!, '.git');
  const own = resolve(dirname(dotGit), /^gitdir: (.+)/.exec(textOf(dotGit))?.[1] ?? dotGit);
  const common = resolve(own, textOf(join(own, 'commondir')).trim() || '.');
  const hooks = /^\s*hookspath\s*=\s*"?([^"\n]+)/im.exec(textOf(join(common, 'config')))?.[1];
  return [
    dotGit,
    join(own, 'config.worktree'),
    ...['config', 'hooks', 'info'].map((name) => join(common, name)),
    ...(hooks === undefined ? [] : [resolve(dirname(dotGit), hooks.trim())]),
  ];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A file, or all files in a folder. */
function noteAll(found: Record<string, string>, root: string, path: string): void {
  note(found, root, path);
  // Of `.git` only the places that `gitPlaces` names.
  if (path.endsWith(`${sep}.git`)) return;
  let files: string[] = [];
  try {
    files = readdirSync(path, { recursive: true, encoding: 'utf8' });
  } catch {}
  const theirs = files.filter((file) => !THEIR_OWN.test(file)).sort();
  for (const file of theirs.slice(0, MOST_FILES)) note(found, root, join(path, file));
}

function note(found: Record<string, string>, root: string, path: string): void {
  const { state } = readState(path);
  const below = relative(root, path);
  const name = below.startsWith('..') || isAbsolute(below) ? path : below;
  if (state.kind === 'file') found[name] = `${state.hash} ${state.mode & 0o111 ? 'runs' : 'text'}`;
  if (state.kind === 'link') found[name] = `link ${state.target}`;
}
