import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { getSystemErrorName, promisify } from 'node:util';

export type Exit =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: NodeJS.Signals };

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Our descriptors that become the child's first three; it gets no other. */
  readonly stdio: readonly [number, number, number];
}

export interface SpawnedProcess {
  /** Also the id of its process group, and of its session. */
  readonly pid: number;
  readonly exit: Promise<Exit>;
}

/**
 * On Linux, Node forks itself for each child, which costs time for every page of memory: with a table of 100 MB, a
 * start takes five times as long. posix_spawn(3) copies nothing. Undefined where Node's way must do: on other
 * systems, where it calls posix_spawn itself, and with C libraries that can't start a program in another folder
 * (glibc before 2.29). Throws system errors as Node would.
 */
export function loadPosixSpawn(): Spawn | undefined {
  loaded ??= { spawn: process.platform === 'linux' ? tryLoad() : undefined };
  return loaded.spawn;
}

type Spawn = (launch: Launch) => Promise<SpawnedProcess>;
let loaded: { spawn: Spawn | undefined } | undefined;

const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
const WNOHANG = 1;
const UNKNOWN_END = 255;
/** Asynchronous, since it returns only when the child has become another program. Koffi runs at most 256 at once. */
const MOST_IN_BACKGROUND = 128;
/** More than any C library needs for its opaque structures. */
const OPAQUE_BYTES = 512;

function tryLoad(): Spawn | undefined {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    return bind(koffi.load(null));
  } catch {
    return undefined;
  }
}

function bind(libc: ReturnType<typeof import('koffi').load>): Spawn {
  const posixSpawn = libc.func(
    'int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attributes, const char **argv, const char **envp)',
  );
  const initActions = libc.func('int posix_spawn_file_actions_init(void *actions)');
  const addDup2 = libc.func('int posix_spawn_file_actions_adddup2(void *actions, int from, int to)');
  const addChdir = libc.func('int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)');
  const destroyActions = libc.func('int posix_spawn_file_actions_destroy(void *actions)');
  const waitpid = libc.func('int waitpid(int pid, _Out_ int *status, int options)');
  const inBackground = promisify(posixSpawn.async);
  const attributes = spawnAttributes(libc);
  let starting = 0;
  const reaper = new Reaper((pid) => {
    const status = [0];
    const ended = waitpid(pid, status, WNOHANG);
    if (ended === 0) return undefined;
    // Its status was read elsewhere: how it ended is unknown, and must not pass for success.
    return ended === pid ? exitOf(status[0]!) : { kind: 'exited', code: UNKNOWN_END };
  });
  return async ({ file, args, cwd, env, stdio }) => {
    const actions = Buffer.alloc(OPAQUE_BYTES);
    initActions(actions);
    starting++;
    try {
      stdio.forEach((from, to) => {
        addDup2(actions, from, to);
      });
      addChdir(actions, cwd);
      const pid = [0];
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const spawn = starting <= MOST_IN_BACKGROUND ? inBackground : posixSpawn;
      const failure: number = await spawn(pid, file, actions, attributes, [file, ...args, null], [...variables, null]);
      if (failure !== 0) throw systemError(failure, file);
      return { pid: pid[0]!, exit: reaper.exitOf(pid[0]!) };
    } finally {
      starting--;
      destroyActions(actions);
    }
  };
}

/** A session of its own, and no signal ignored or blocked: Node ignores SIGPIPE, and its children must not. */
function spawnAttributes(libc: ReturnType<typeof import('koffi').load>): Buffer {
  const attributes = Buffer.alloc(OPAQUE_BYTES);
  const all = Buffer.alloc(OPAQUE_BYTES);
  const none = Buffer.alloc(OPAQUE_BYTES);
  libc.func('int sigfillset(void *set)')(all);
  libc.func('int sigemptyset(void *set)')(none);
  libc.func('int posix_spawnattr_init(void *attributes)')(attributes);
  libc.func('int posix_spawnattr_setsigdefault(void *attributes, void *set)')(attributes, all);
  libc.func('int posix_spawnattr_setsigmask(void *attributes, void *set)')(attributes, none);
  libc.func('int posix_spawnattr_setflags(void *attributes, short flags)')(attributes, SETSIGDEF | SETSIGMASK | SETSID);
  return attributes;
}

/** Reads the status of children that Node does not know; Node reads only its own. */
class Reaper {
  readonly #fetch: (pid: number) => Exit | undefined;
  readonly #waiting = new Map<number, (exit: Exit) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(fetch: (pid: number) => Exit | undefined) {
    this.#fetch = fetch;
    process.on('SIGCHLD', () => this.#reap());
  }

  exitOf(pid: number): Promise<Exit> {
    // A signal listener does not keep Node alive; waiting for a child must.
    this.#timer ??= setInterval(() => this.#reap(), 100);
    return new Promise((resolve) => this.#waiting.set(pid, resolve));
  }

  #reap(): void {
    for (const [pid, resolve] of this.#waiting) {
      const exit = this.#fetch(pid);
      if (exit === undefined) continue;
      this.#waiting.delete(pid);
      resolve(exit);
    }
    if (this.#waiting.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Decodes the status of wait(2) like the macros of <sys/wait.h>. */
function exitOf(status: number): Exit {
  const signal = status & 0x7f;
  if (signal === 0) return { kind: 'exited', code: (status >> 8) & 0xff };
  return { kind: 'signalled', signal: signalName(signal) };
}

function signalName(signal: number): NodeJS.Signals {
  const known = Object.entries(constants.signals).find(([, number]) => number === signal);
  return (known?.[0] ?? `signal ${signal}`) as NodeJS.Signals;
}

function systemError(errno: number, file: string): Error {
  const code = getSystemErrorName(-errno);
  return Object.assign(new Error(`spawn ${file} ${code}`), { code });
}
