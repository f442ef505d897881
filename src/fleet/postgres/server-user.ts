import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { NightshiftError } from '../../core/model/errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Who runs the server: PostgreSQL refuses to run as root. `undefined`: whoever runs Nightshift. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

interface ProgramEnd {
  readonly isDone: boolean;
  /** What it printed, or why it could not be run. */
  readonly text: string;
}

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly user: ServerUser | undefined;
  readonly env: Environment;
  /** The root folder by default: the server's user may not be allowed into the current one. */
  readonly cwd?: string;
  readonly signal?: AbortSignal;
}

/** Preferred first: `postgres` exists where the system's packages were installed, `nobody` everywhere. */
const SERVER_USERS = ['postgres', 'nobody'];

export async function findServerUser(
  isRoot = process.getuid?.() === 0,
  passwd = '/etc/passwd',
): Promise<ServerUser | undefined> {
  if (!isRoot) return;
  const lines = (await readFile(passwd, 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  for (const name of SERVER_USERS) {
    const [, , uid, gid] = lines.find(([written]) => written === name) ?? [];
    if (Number(uid) > 0 && Number(gid) > 0) return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new NightshiftError(
    'resources',
    'PostgreSQL does not run as root, and this machine has no user postgres or nobody to run it as',
    'run nightshift as another user, or give the URL of a PostgreSQL server with --fleet URL',
    { file: passwd },
  );
}

const KEPT_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot'];

/**
 * Without secrets, since the server may run as a user whose other processes can read them; without the settings of other
 * servers (PGDATA, PGPORT ...); and with messages and sorting that are the same everywhere.
 */
export function environmentOfServer(env: Environment): Record<string, string> {
  const kept = KEPT_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  // macOS: without a locale the server refuses to start ("became multithreaded during startup").
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

/** A program of the server, with the server's environment. */
export function runServerProgram(program: Program): Promise<ProgramEnd> {
  return runProgram({ ...program, env: environmentOfServer(program.env) });
}

/** Never throws: a program that can't be started has not done its job either. */
export function runProgram({ file, args, user, env, cwd = '/', signal }: Program): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(user && { uid: user.uid, gid: user.gid }),
      ...(signal && { signal }),
    });
    let text = '';
    const read = (piece: string) => {
      text += piece;
    };
    child.stdout.setEncoding('utf8').on('data', read);
    child.stderr.setEncoding('utf8').on('data', read);
    child.on('error', (error) => {
      // One that was started and aborted still has to end: it may write until then.
      if (child.pid === undefined) resolve({ isDone: false, text: error.message });
    });
    child.on('close', (code, killedBy) => {
      resolve({ isDone: code === 0, text: text.trim() || (killedBy ? `ended by ${killedBy}` : `exit code ${code}`) });
    });
  });
}

/** Asked of the system rather than computed from modes: access lists and mounts count, too. */
export async function mayEnter(user: ServerUser | undefined, folder: string, env: Environment): Promise<boolean> {
  if (!user) return true;
  return (await runServerProgram({ file: '/bin/sh', args: ['-c', 'cd -- "$1"', 'sh', folder], user, env })).isDone;
}
