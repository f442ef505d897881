import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { askGit, type Git } from './git.ts';

/** A repository as it was when the run began: agents can write its configuration and hooks later. */
export interface Source {
  /** Its working tree, or the bare repository itself. */
  readonly folder: string;
  readonly isBare: boolean;
  /** The folder that all its working trees share. */
  readonly commonDir: string;
  readonly objectFormat: string;
  /** The commit that is checked out; undefined before the first commit. */
  readonly head: string | undefined;
  /** All of them: of the system, the person and the repository. */
  readonly settings: readonly (readonly [key: string, value: string])[];
  /** A copy of its hooks. */
  readonly hooks: string;
  /** Its own ignore rules, `info/exclude`. */
  readonly exclude: string;
  /** Whether Git LFS is installed; undefined: the configuration does not name it. */
  readonly hasLfs?: boolean;
}

/** Reads the repository that `folder` is in. `copies`: a missing folder that agents can't write, for its hooks. */
export async function readSource(git: Git, folder: string, copies: string, signal: AbortSignal): Promise<Source> {
  const ask = (what: string, ...args: string[]) =>
    askGit(git, what, { folder, args, signal, readsConfiguration: true });
  const asked = ['--git-common-dir', '--is-bare-repository', '--show-object-format', '--show-cdup'];
  const printed = await ask(`${folder} is not a git repository`, 'rev-parse', ...asked);
  const [common = '', isBare, objectFormat = 'sha1', up = ''] = printed.split('\n');
  const commonDir = realpathSync(resolve(folder, common));
  const top = isBare === 'true' ? commonDir : realpathSync(resolve(folder, up));
  const settings = parseSettings(
    await ask(`git can't read the configuration of ${folder}`, 'config', '--list', '--includes', '-z'),
  );
  const head = await git.run({ folder, args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], signal });
  const hooks = join(copies, 'hooks');
  copyHooks(settingIn(settings, 'core.hookspath'), { top, commonDir, hooks });
  return {
    folder: top,
    isBare: isBare === 'true',
    commonDir,
    objectFormat,
    head: head.kind === 'done' ? head.text.trim() : undefined,
    settings,
    hooks,
    exclude: textOf(join(commonDir, 'info', 'exclude')),
    ...(settings.some(([key]) => LFS.test(key)) ? { hasLfs: await isInstalled(git, 'lfs', folder, signal) } : {}),
  };
}

/** Whether git has this command: git itself finds the program. */
async function isInstalled(git: Git, command: string, folder: string, signal: AbortSignal): Promise<boolean> {
  return (await git.run({ folder, args: [command, 'version'], signal })).kind === 'done';
}

function copyHooks(
  path: string | undefined,
  { top, commonDir, hooks }: { readonly top: string; readonly commonDir: string; readonly hooks: string },
): void {
  const from = path === undefined ? join(commonDir, 'hooks') : resolve(top, path.replace(/^~(?=\/)/, homedir()));
  // Also an empty one, so that hooks which an agent adds later are not found in its place.
  mkdirSync(hooks, { recursive: true, mode: 0o700 });
  if (existsSync(from)) cpSync(from, hooks, { recursive: true, dereference: true });
}

/** Git's keys are in lower case, except for the name of a sub section. The last value counts. */
export function settingIn(settings: Source['settings'], key: string): string | undefined {
  return settings.findLast(([name]) => name === key)?.[1];
}

export const LFS = /^filter\.lfs\./;

/** `key\nvalue\0`; a key without a value means `true`. */
export function parseSettings(printed: string): (readonly [string, string])[] {
  return printed
    .split('\0')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const at = entry.indexOf('\n');
      return at === -1 ? ([entry, 'true'] as const) : ([entry.slice(0, at), entry.slice(at + 1)] as const);
    });
}

/** As a configuration file. */
export function renderSettings(settings: Source['settings']): string {
  return settings
    .map(([key, value]) => `${header(key)}\n\t${key.slice(key.lastIndexOf('.') + 1)} = ${quoted(value)}\n`)
    .join('');
}

/** `section` or `section.sub section`: the name of the sub section may contain anything. */
function header(key: string): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const section = key.slice(0, first);
  if (first === last) return `[${section}]`;
  return `[${section} "${key.slice(first + 1, last).replace(/["\\]/g, '\\$&')}"]`;
}

function quoted(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `"${escaped}"`;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
