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

/** flock(2) of the C library, which `flock -x` and qsv scripts also use. Loaded when first needed. */
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

/** Long enough for any well-behaved program. */
export const LOCK_WAIT_MS = 30_000;

/** An exclusive lock. The kernel releases it when the process dies. */
export interface Lock extends Disposable {
  readonly fd: number;
}

/** Tries once. Undefined if another process holds it. */
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

/** Callers in this process that wait for a lock. */
const waiting = new Set<() => void>();

function release(fd: number): void {
  closeSync(fd);
  for (const wake of waiting) wake();
}

/** Waits until this process releases a lock, or this long: there is no notice of other processes. */
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
    // A link put there during a run is not followed, and does not end the run.
    if ((cause as NodeJS.ErrnoException).code === 'ELOOP') {
      renameSync(file, `${file}.put-back-${new Date().toISOString().replace(/[:.]/g, '')}`);
      return openSync(file, O_RDWR | O_CREAT | O_NOFOLLOW, 0o644);
    }
    try {
      // With read permission only, the shift can still be locked for reading.
      return openSync(file, O_RDONLY | O_NOFOLLOW);
    } catch {
      throw diskError(cause, file);
    }
  }
}

/**
 * For reading. Without a lock file, no process can hold the lock, and none is created, since a shift that is refused
 * must stay as it was. Undefined then; to write, take the lock.
 */
export async function lockIfThere(file: string, milliseconds: number): Promise<Lock | undefined> {
  return existsSync(file) ? lockWithin(file, milliseconds) : undefined;
}

/** Waits without blocking the event loop, but not forever. The error names the process that holds the lock. */
export async function lockWithin(file: string, milliseconds: number): Promise<Lock> {
  const end = performance.now() + milliseconds;
  for (let pause = 1; ; pause = Math.min(pause * 2, 50)) {
    const lock = await retryPassing(() => tryLock(file));
    if (lock) return lock;
    if (performance.now() >= end) throw heldTooLong(file, milliseconds);
    await pauseFor(pause);
  }
}

/** Locks an open file, which stays open. `file` is its name. */
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

/**
 * Linux tells which process holds a flock. Elsewhere, and for processes out of sight, it is unknown. Undefined: none.
 */
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
