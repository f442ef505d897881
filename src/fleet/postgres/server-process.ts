import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, type ServerHome } from './server-home.ts';
import { type Environment, environmentOfServer, runServerProgram } from './server-user.ts';

/** `fast` ends connections and writes all data; `immediate` is a crash from which the next start recovers. */
export type StopMode = 'fast' | 'immediate';

const SIGNALS: Record<StopMode, NodeJS.Signals> = { fast: 'SIGINT', immediate: 'SIGQUIT' };
const STOP_MS = 10_000;
const POLL_MS = 30;
const MOST_LOG_BYTES = 4_000_000;
const TAIL_LINES = 8;

export interface ServerSettings {
  readonly bin: string;
  readonly port: number;
  readonly isDurable: boolean;
  readonly env: Environment;
  /** More of `postgresql.conf`. */
  readonly settings: Readonly<Record<string, string>>;
}

/** In a session of its own: a Ctrl-C in the terminal is for the run, which then stops the server itself. */
export async function spawnServer(home: ServerHome, options: ServerSettings): Promise<ChildProcess> {
  const { bin, port, isDurable, env, settings } = options;
  const all: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // The path of a socket may have 107 bytes at most, which the folder of a project can exceed.
    unix_socket_directories: '',
    shared_buffers: '32MB',
    max_connections: '100',
    max_wal_size: '256MB',
    min_wal_size: '32MB',
    jit: 'off',
    // A crash of the server alone still loses nothing.
    ...(isDurable ? {} : { fsync: 'off', full_page_writes: 'off' }),
    ...settings,
  };
  const log = await open(home.log, await logFlags(home.log), 0o600);
  try {
    const child = spawn(
      join(bin, 'postgres'),
      ['-D', home.data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      {
        cwd: '/',
        env: environmentOfServer(env),
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        ...(home.user && { uid: home.user.uid, gid: home.user.gid }),
      },
    );
    // If the program can't be started, `child.pid` is undefined; the caller checks that.
    child.on('error', () => {});
    child.unref();
    return child;
  } finally {
    await log.close();
  }
}

/** The last lines that the server wrote, for an error. */
export async function tailOfLog(home: ServerHome): Promise<string> {
  const text = await readFile(home.log, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
}

/**
 * The server that runs on this data folder. PostgreSQL's own `postmaster.pid` says which; after a crash or a reboot its
 * number can belong to another program, and then PostgreSQL would refuse to start, so the file is removed.
 */
export async function runningServer(home: ServerHome): Promise<{ pid: number; port: number } | undefined> {
  const file = join(home.data, 'postmaster.pid');
  const lines = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!(pid > 0) || !isAlive(pid)) return;
  const command = await commandOf(pid);
  if (command?.includes(home.data)) return { pid, port };
  // If a server does run here, PostgreSQL finds out from its shared memory. Keep the file of a process that can't be
  // examined.
  if (command !== undefined) await rm(file, { force: true });
  return;
}

export async function stopServer(home: ServerHome, mode: StopMode): Promise<void> {
  const running = await runningServer(home);
  if (!running) return;
  for (const signal of [SIGNALS[mode], SIGNALS.immediate, 'SIGKILL'] as const) {
    if (!sendSignal(running.pid, signal) || (await isGone(home, running.pid))) return;
  }
}

async function isGone(home: ServerHome, pid: number): Promise<boolean> {
  for (const end = Date.now() + STOP_MS; Date.now() < end; await sleep(POLL_MS)) {
    if (!isAlive(pid) || !(await commandOf(pid))?.includes(home.data)) return true;
  }
  return false;
}

function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Empty for a zombie process. `undefined`: unknown. */
async function commandOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'linux') return await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => undefined);
  const end = await runServerProgram({
    file: 'ps',
    args: ['-ww', '-o', 'args=', '-p', String(pid)],
    user: undefined,
    env: process.env,
  });
  return end.isDone ? end.text : undefined;
}

async function logFlags(file: string): Promise<'a' | 'w'> {
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  return size > MOST_LOG_BYTES ? 'w' : 'a';
}
