import { existsSync, ftruncateSync, readFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/errors.ts';
import { diskError } from './atomic-write.ts';
import { pidOfLock, tryLock } from './flock.ts';

export interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly run: string;
}

/** One run at a time for a shift (rule T6). The kernel gives the lock of a dead run back; the file just names the holder. */
export async function takeRunLock(file: string, shift: string, holder: Holder): Promise<Disposable> {
  let lock = openRunLock(file);
  // `status` holds the lock for a moment to see whether anybody else does.
  for (let tries = 0; !lock && tries < 4; tries++) {
    await sleep(25);
    lock = openRunLock(file);
  }
  if (!lock) throw alreadyRunning(shift, lastHolder(file));
  try {
    ftruncateSync(lock.fd, 0);
    writeSync(lock.fd, JSON.stringify(holder), 0);
  } catch (cause) {
    lock[Symbol.dispose]();
    throw diskError(cause, file);
  }
  return lock;
}

export function alreadyRunning(shift: string, holder: Holder | undefined): NightshiftError {
  return new NightshiftError(
    'already-running',
    `${shift} is already being run by ${holder ? `process ${holder.pid} since ${holder.since}` : 'another process'}`,
    `\`nightshift attach ${shift}\` shows it at work, \`nightshift stop ${shift}\` ends it`,
  );
}

/** Who runs the shift now, if anybody does. */
export function currentHolder(file: string): Holder | undefined {
  if (!existsSync(file)) return undefined;
  using lock = openRunLock(file);
  return lock ? undefined : lastHolder(file);
}

/**
 * Who runs the shift now, for those who are going to send it a signal: the file may name a dead run while somebody else
 * looks whether the lock is free, and its process id may be another program's by now. Where the system tells who holds
 * a lock (Linux), that process must be the one that the file names.
 */
export async function provenHolder(file: string): Promise<Holder | undefined> {
  for (let tries = 0; ; tries++) {
    const holder = currentHolder(file);
    const pid = holder && pidOfLock(file);
    if (!holder || pid === holder.pid || (pid === 'unknown' && tries > 0)) return holder;
    if (tries === 8) {
      const hint = 'end that process, or wait for it';
      throw new NightshiftError('locked', `${file} is held by process ${pid}, but it names ${holder.pid}`, hint, {
        file,
      });
    }
    await sleep(50);
  }
}

function openRunLock(file: string): ReturnType<typeof tryLock> {
  try {
    return tryLock(file);
  } catch (cause) {
    throw diskError(cause, file);
  }
}

/** Who took the lock last, and may be gone. */
export function lastHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}
