import { basename, isAbsolute, relative, resolve } from 'node:path';
import { meanings } from './globs.ts';

export type Role = 'manager' | 'dev' | 'qa';

/** Who acts, and where. */
export interface Facts {
  readonly role: Role;
  /** The absolute path of the folder that holds `.nightshift`. */
  readonly project: string;
  /** The absolute path that relative paths refer to. */
  readonly folder: string;
  /** Everything that the agent was told. Prompts named there are its own, and their shift is its shift. */
  readonly told: string;
  /** A dev whose task has `tools: bash`. */
  readonly hasShell: boolean;
  /** More files that configure the program, absolute. */
  readonly settings: readonly string[];
  /** Resolves links; returns the path itself if there are none. */
  realOf(path: string): string;
  /** Whether the Task Order of the shift names this task. */
  isTask(shift: string, task: string): boolean;
}

export function roleOf(agent: string): Role | undefined {
  return /^nightshift-(manager|dev|qa)$/.exec(agent)?.[1] as Role | undefined;
}

/** Files that configure the agents and their guard, or that run programs later in your name. */
const STEERING = [
  '\\.opencode',
  'opencode\\.jsonc?',
  '\\.config/opencode',
  '\\.claude',
  '\\.claude\\.json',
  '\\.mcp\\.json',
  '\\.gitconfig',
  '\\.config/git',
  'node_modules/(?:\\.bin/)?nightshift',
].map((name) => new RegExp(`(?:^|/)${name}(?:/|$)`));

const GIT = /(?:^|\/)\.git(?:\/|$)/;
/** `.git` itself, and those of its contents that run programs or name others. */
const GIT_STEERING = /(?:^|\/)\.git(?:$|\/(?:$|hooks|config|info|modules|worktrees|commondir|gitdir|objects\/info))/;

const SECRET = /(?:^|\/)\.nightshift\/[^/]+\/\.env(?:\.in-force)?$/;
const PROMPT = /([^/\s'"]+\/\.engine\/prompts\/)([^\s'";|&<>()]*)/;

/** As case-insensitive file systems compare names, without characters that some of them ignore. */
export function folded(path: string): string {
  return path
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll('\\', '/')
    .toLowerCase();
}

/** The given path and its target: if one is denied, both are. */
function bothOf(path: string, { folder, realOf }: Facts): string[] {
  const given = resolve(folder, path);
  return [...new Set([given, realOf(given)])];
}

function find(
  path: string,
  facts: Facts,
  why: (folded: string, path: string) => string | undefined,
): string | undefined {
  for (const each of bothOf(path, facts)) {
    const found = why(folded(each), each);
    if (found !== undefined) return found;
  }
  return undefined;
}

export function readRefusal(path: string, facts: Facts): string | undefined {
  return find(path, facts, (each) => secretRefusal(path, each, facts));
}

export function writeRefusal(path: string, facts: Facts): string | undefined {
  return find(path, facts, (each, exact) => {
    if (isSteering(each, facts) || GIT.test(each)) return steeringRefusal(path);
    return isInside(each) && !isOwn(exact, facts) ? shiftRefusal(path, facts) : undefined;
  });
}

/** For a word whose use is unknown. */
export function nameRefusal(path: string, facts: Facts): string | undefined {
  return find(path, facts, (each) => {
    if (isSteering(each, facts) || GIT_STEERING.test(each)) return steeringRefusal(path);
    return secretRefusal(path, each, facts);
  });
}

/** A search from a folder above leaves these out of its output. */
export function searchRefusal(path: string, glob: string | undefined, facts: Facts): string | undefined {
  const found = readRefusal(path, facts);
  if (found !== undefined || glob === undefined) return found;
  const folder = resolve(facts.folder, path);
  for (const each of meanings(glob.replace(/\*\*\//g, ''))) {
    const why = readRefusal(each, { ...facts, folder });
    if (why !== undefined) return why;
  }
  return undefined;
}

function isSteering(path: string, { settings }: Facts): boolean {
  return STEERING.some((name) => name.test(path)) || settings.some((file) => isAtOrBelow(path, folded(file)));
}

function isAtOrBelow(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

function secretRefusal(path: string, each: string, { told }: Facts): string | undefined {
  if (SECRET.test(each)) return `${path} holds secrets: no agent of Nightshift reads it.`;
  const [prompt, , name] = PROMPT.exec(each) ?? [];
  // The folder itself: searching or entering it means all prompts.
  if (prompt === undefined && !/\/\.engine\/prompts$/.test(each)) return undefined;
  const isOwn = name !== undefined && name !== '' && isNamedIn(folded(told), prompt!);
  return isOwn ? undefined : `${path} is the prompt of somebody else.`;
}

/** Not as the beginning of a longer name. */
function isNamedIn(told: string, prompt: string): boolean {
  return told.split(/[\s'"`]+/).some((word) => word.endsWith(prompt) || word.endsWith(`${prompt}.`));
}

function isInside(path: string): boolean {
  return /(?:^|\/)\.nightshift(?:\/|$)/.test(path);
}

const PROTECTED = /^(?:table\.csv|table\.csv\.lock|manager\.md|lessons\.json|\.env|\.env\.in-force|\.engine(?:\/.*)?)$/;

/** A file of the agent's own: in the folder of its shift, but not one of the shift's own files. */
function isOwn(path: string, { project, told, isTask, realOf }: Facts): boolean {
  const below = [project, realOf(project)]
    .map((top) => folded(relative(resolve(top, '.nightshift'), path)))
    .find((each) => each !== '' && !each.startsWith('../') && !isAbsolute(each));
  const [, shift = '', rest = ''] = /^([^/]+)\/(.+)$/.exec(below ?? '') ?? [];
  if (rest === '' || isInside(rest) || PROTECTED.test(rest)) return false;
  const isTaskFile = !rest.includes('/') && rest.endsWith('.md') && isTask(shift, basename(rest, '.md'));
  return !isTaskFile && shiftsIn(told).includes(shift);
}

/** The shifts whose prompts an agent was told about. */
function shiftsIn(told: string): string[] {
  return [...folded(told).matchAll(/\.nightshift\/([^/\s]+)\/\.engine\/prompts\//g)].map(([, shift]) => shift!);
}

function steeringRefusal(path: string): string {
  return `${path} steers agents or git: no agent of Nightshift changes it.`;
}

function shiftRefusal(path: string, { told }: Facts): string {
  const [own] = shiftsIn(told);
  if (own === undefined) return `${path} is inside .nightshift: write nothing there.`;
  return (
    `${path} belongs to Nightshift. In .nightshift/${own}/ you may write files of your own, but not table.csv, ` +
    'table.csv.lock, manager.md, lessons.json, the task files, .env and .engine/; elsewhere in .nightshift/ nothing.'
  );
}

/** The task files and other documents of shifts, which a shell may read but not write. */
export function documentRefusal(path: string, facts: Facts): string | undefined {
  return find(path, facts, (each, exact) =>
    isInside(each) && !isOwn(exact, facts) ? shiftRefusal(path, facts) : undefined,
  );
}
