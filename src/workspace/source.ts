import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { askGit, type Git, type GitCall } from './git.ts';
import { copyHooks } from './hooks.ts';
import { hooksIn, keepSource } from './kept-source.ts';
import { parseSettings, type Settings, settingIn } from './settings.ts';
import { makeStandIn } from './stand-in.ts';

/** A repository as it was when the run began: agents can write its configuration and hooks later. */
export interface Source {
  /** Its working tree, or the bare repository itself. */
  readonly folder: string;
  readonly isBare: boolean;
  /** Where git keeps its HEAD: `commonDir`, or a folder in it for a linked working tree. */
  readonly gitDir: string;
  /** The folder that all its working trees share. */
  readonly commonDir: string;
  /** Stands for `commonDir` in calls of git. */
  readonly standIn: string;
  readonly objectFormat: string;
  /** All of them: of the system, the person and the repository. */
  readonly settings: Settings;
  /** The folder with a copy of its hooks. */
  readonly hooks: string;
  /** Its own ignore rules, `info/exclude`. */
  readonly exclude: string;
  /** Whether Git LFS is installed; undefined: the configuration does not name it. */
  readonly hasLfs?: boolean;
}

/** Reads the repository that `folder` is in, and keeps it in `copies`: a missing folder that agents can't write. */
export async function readSource(git: Git, folder: string, copies: string, signal: AbortSignal): Promise<Source> {
  const ask = (what: string, ...args: string[]) =>
    askGit(git, what, { folder, args, signal, readsConfiguration: true });
  const asked = [
    '--absolute-git-dir',
    '--git-common-dir',
    '--is-bare-repository',
    '--show-object-format',
    '--show-cdup',
  ];
  const printed = await ask(`${folder} is not a git repository`, 'rev-parse', ...asked);
  const [gitDir = '', common = '', isBare, objectFormat = 'sha1', up = ''] = printed.split('\n');
  const commonDir = realpathSync(resolve(folder, common));
  const top = isBare === 'true' ? commonDir : realpathSync(resolve(folder, up));
  const settings = parseSettings(
    await ask(`git can't read the configuration of ${folder}`, 'config', '--list', '--includes', '-z'),
  );
  const hooks = copyHooks({ path: settingIn(settings, 'core.hookspath'), top, commonDir }, hooksIn(copies));
  const exclude = textOf(join(commonDir, 'info', 'exclude'));
  const standIn = join(copies, 'stand-in');
  makeStandIn(standIn, { commonDir, settings, hooks, exclude });
  const source: Source = {
    folder: top,
    isBare: isBare === 'true',
    gitDir: realpathSync(gitDir),
    commonDir,
    standIn,
    objectFormat,
    settings,
    hooks,
    exclude,
    ...(settings.some(([key]) => LFS.test(key)) ? { hasLfs: await isInstalled(git, 'lfs', folder, signal) } : {}),
  };
  keepSource(copies, source);
  return source;
}

/** A call of git in a repository, with hooks and settings as they were when the run began. */
export function inSource(source: Source, args: readonly string[], signal: AbortSignal): GitCall {
  return { folder: source.folder, args, env: environmentIn(source), signal };
}

/** `gitDir`: that of another working tree of the repository. */
export function environmentIn(source: Source, gitDir = source.gitDir): Record<string, string> {
  // The settings have those of the person.
  return { GIT_DIR: gitDir, GIT_COMMON_DIR: source.standIn, GIT_CONFIG_GLOBAL: '/dev/null' };
}

/** Whether git has this command: git itself finds the program. */
async function isInstalled(git: Git, command: string, folder: string, signal: AbortSignal): Promise<boolean> {
  return (await git.run({ folder, args: [command, 'version'], signal })).kind === 'done';
}

export const LFS = /^filter\.lfs\./;

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
