import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { NightshiftError } from '../../../core/model/errors.ts';
import { diskError } from './atomic-write.ts';
import { retryPassing } from './retry.ts';

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;

type Flock = (fd: number, operation: number) => number;
let flock: Flock | undefined;
let wouldBlock: (() => boolean) | undefined;

/** flock(2) of the C library: the lock that `flock -x` and qsv scripts take part in. Loaded when it is first needed. */
function load(): Flock {
  if (flock) return flock;
  if (process.platform === 'win32') {
    throw new NightshiftError(
      'bad-folder',
      'Nightshift needs flock(2), which Windows does not have',
      'run it inside WSL',
    );
  }
  try {
    const koffi = createRequire(import.meta.url)('koffi');
    flock = koffi.load(null).func('int flock(int fd, int operation)') as Flock;
    wouldBlock = () => koffi.errno() === koffi.os.errno.EWOULDBLOCK;
    return flock;
  } catch (cause) {
    throw new NightshiftError(
      'bad-folder',
      `flock(2) can't be reached: ${(cause as Error).message}`,
      'reinstall nightshift on this machine (npm install), so that koffi gets the binary for this platform',
    );
  }
}

/** Long enough for any program that means well; then somebody must be told. */
export const LOCK_WAIT_MS = 30_000;

/** An exclusive lock that the kernel releases when the process dies, however it dies. */
export interface Lock extends Disposable {
  readonly fd: number;
}

/** Tries once; undefined if somebody else holds it. */
export function tryLock(file: string): Lock | undefined {
  const take = load();
  const fd = openLockFile(file);
  try {
    if (take(fd, LOCK_EX | LOCK_NB) === 0) return { fd, [Symbol.dispose]: () => release(fd) };
    if (wouldBlock?.()) {
      closeSync(fd);
      return undefined;
    }
    throw new NightshiftError(
      'bad-folder',
      `flock(2) does not work on ${file}`,
      'keep the shift on a local file system',
    );
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Those of this process that wait for a lock. */
const waiting = new Set<() => void>();

function release(fd: number): void {
  closeSync(fd);
  for (const wake of waiting) wake();
}

/** Until a lock of this process is released, or so long: of those of other processes nobody is told. */
async function pauseFor(milliseconds: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      waiting.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    waiting.add(wake);
  });
}

/** Node opens with O_CLOEXEC, so no child keeps the lock alive after our death. */
function openLockFile(file: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_RDONLY } = constants;
  try {
    return openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644);
  } catch (cause) {
    // A link that somebody put there during a run: nothing of it is used, and it does not end the run.
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP') {
      renameSync(file, `${file}.put-back-${new Date().toISOString().replace(/[:.]/g, '')}`);
      return openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644);
    }
    try {
      // Whoever may only read the shift can still lock it, to read it.
      return openSync(file, O_RDONLY | O_NOFOLLOW);
    } catch {
      throw diskError(cause, file);
    }
  }
}

/**
 * For reading: where there is no lock file yet, nobody can hold it, and none is made, since a shift that is refused must
 * be left as it was. Undefined then; who goes on to write has to take the lock.
 */
export async function lockIfThere(file: string, milliseconds: number): Promise<Lock | undefined> {
  return existsSync(file) ? lockWithin(file, milliseconds) : undefined;
}

/** Waits without blocking the event loop, and not for ever: whoever holds the lock is named. */
export async function lockWithin(file: string, milliseconds: number): Promise<Lock> {
  const end = performance.now() + milliseconds;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const lock = await retryPassing(() => tryLock(file));
    if (lock) return lock;
    if (performance.now() >= end) throw heldTooLong(file, milliseconds);
    await pauseFor(pause);
  }
}

/** The same on a file that is open, and stays so: `file` is its name. */
export async function lockOpen(fd: number, file: string, milliseconds = LOCK_WAIT_MS): Promise<Disposable> {
  const take = load();
  const end = performance.now() + milliseconds;
  for (let pause = 1; take(fd, LOCK_EX | LOCK_NB) !== 0; pause = Math.min(pause * 2, 50)) {
    if (!wouldBlock?.() || performance.now() >= end) throw heldTooLong(file, milliseconds);
    await pauseFor(pause);
  }
  return {
    [Symbol.dispose]: () => {
      take(fd, LOCK_UN);
      for (const wake of waiting) wake();
    },
  };
}

function heldTooLong(file: string, milliseconds: number): NightshiftError {
  return new NightshiftError(
    'locked',
    `${file} was locked for ${Math.round(milliseconds / 1000)} seconds by ${holderOf(file)}`,
    'let that program finish or end it, then start again; nothing was changed',
    { file },
  );
}

/** Linux says which process holds a flock; elsewhere, and of processes out of sight, it is unknown. Undefined: none. */
export function pidOfLock(file: string): number | 'unknown' | undefined {
  try {
    const { ino } = statSync(file);
    const line = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .find((each) => / FLOCK .* WRITE /.test(each) && !each.includes('->') && each.includes(`:${ino} `));
    if (line === undefined) return undefined;
    const pid = Number(line.trim().split(/\s+/)[4]);
    return pid > 0 ? pid : 'unknown';
  } catch {
    return 'unknown';
  }
}

function holderOf(file: string): string {
  const pid = pidOfLock(file);
  if (typeof pid !== 'number') return 'another program';
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim().slice(0, 100);
    return `process ${pid} (${command})`;
  } catch {
    return 'another program';
  }
}
