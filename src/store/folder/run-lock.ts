import { closeSync, constants, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../../core/model/errors.ts';
import { diskError } from './files/atomic-write.ts';
import { pidOfLock, tryLock } from './files/flock.ts';
import { openInside } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import { retryPassing } from './files/retry.ts';
import type { ShiftPaths } from './layout.ts';

export interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly run: string;
}

/**
 * One run at a time for a shift (rule T6). What is locked is the shift's folder itself, which no clean-up takes away under
 * a run; the kernel gives the lock of a dead run back. The file just names the holder.
 */
export async function takeRunLock(paths: ShiftPaths, holder: Holder): Promise<Disposable> {
  const { runLock: file, name } = paths;
  let lock = await retryPassing(() => openRunLock(file));
  // `status` holds the lock for a moment to see whether anybody else does.
  for (let tries = 0; !lock && tries < 4; tries++) {
    await sleep(25);
    lock = openRunLock(file);
  }
  if (!lock) throw alreadyRunning(file, name);
  try {
    nameHolder(paths, holder);
  } catch (cause) {
    lock[Symbol.dispose]();
    throw diskError(cause, file);
  }
  return lock;
}

/** For those who look on: again after somebody has removed the file. */
export function nameHolder({ folder, runLock }: ShiftPaths, holder: Holder): void {
  const fd = openInside(folder, runLock, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(fd, JSON.stringify(holder));
  } finally {
    closeSync(fd);
  }
}

/**
 * Who runs the shift now, for those who are going to send it a signal: the file may name a dead run while somebody else
 * looks whether the lock is free, and its process id may be another program's by now. Where the system tells who holds
 * a lock (Linux), that process must be the one that the file names.
 */
export async function provenHolder(file: string): Promise<Holder | undefined> {
  for (let tries = 0; ; tries++) {
    const holder = currentHolder(file);
    const pid = holder && pidOfLock(folderOf(file));
    if (!holder || (holder.pid > 0 && (pid === holder.pid || (pid === 'unknown' && tries > 0)))) return holder;
    if (tries === 8) {
      const hint = 'end that process, or wait for it';
      throw new NightshiftError('locked', `${file} is held by process ${pid}, but it names ${holder.pid}`, hint, {
        file,
      });
    }
    await sleep(50);
  }
}

function alreadyRunning(file: string, shift: string): NightshiftError {
  const other = lastHolder(file);
  const who = other ? `process ${other.pid} since ${other.since}` : 'another process';
  return new NightshiftError(
    'already-running',
    `${shift} is already being run by ${who}`,
    `\`nightshift attach ${shift}\` shows it, \`nightshift stop ${shift}\` ends it`,
  );
}

/** For who is about to change something first and start then. */
export function refuseSecondRun(file: string, shift: string): void {
  if (currentHolder(file)) throw alreadyRunning(file, shift);
}

/** Who runs the shift now, if anybody does. */
export function currentHolder(file: string): Holder | undefined {
  using lock = openRunLock(file);
  return lock ? undefined : (lastHolder(file) ?? UNKNOWN);
}

/** Somebody removed the file that names it. */
const UNKNOWN: Holder = { pid: 0, since: 'an unknown time', run: '' };

function openRunLock(file: string): ReturnType<typeof tryLock> {
  try {
    return tryLock(folderOf(file));
  } catch (cause) {
    throw diskError(cause, file);
  }
}

/** Who took the lock last, and may be gone. */
export function lastHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readHere(file)) as Holder;
  } catch {
    return undefined;
  }
}

/** What the lock is on; the file only names who holds it. */
function folderOf(file: string): string {
  return dirname(dirname(file));
}
