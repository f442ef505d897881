import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/errors.ts';
import { diskError } from './atomic-write.ts';
import { tryLock } from './flock.ts';

export interface Holder {
  readonly pid: number;
  readonly since: string;
  readonly run: string;
}

/**
 * One run at a time for a shift (rule T6). What is locked is the shift's folder itself, which no clean-up takes away under
 * a run; the kernel gives the lock of a dead run back. The file just names the holder.
 */
export async function takeRunLock(file: string, shift: string, holder: Holder): Promise<Disposable> {
  let lock = openRunLock(file);
  // `status` holds the lock for a moment to see whether anybody else does.
  for (let tries = 0; !lock && tries < 4; tries++) {
    await sleep(25);
    lock = openRunLock(file);
  }
  if (!lock) throw alreadyRunning(file, shift);
  try {
    writeFileSync(file, JSON.stringify(holder), { mode: 0o600 });
  } catch (cause) {
    lock[Symbol.dispose]();
    throw diskError(cause, file);
  }
  return lock;
}

function alreadyRunning(file: string, shift: string): NightshiftError {
  const other = readHolder(file);
  const who = other ? `process ${other.pid} since ${other.since}` : 'another process';
  return new NightshiftError(
    'already-running',
    `${shift} is already being run by ${who}`,
    `\`nightshift status ${shift}\` shows how far it is; end that process to take over`,
  );
}

/** For who is about to change something first and start then. */
export function refuseSecondRun(file: string, shift: string): void {
  if (currentHolder(file)) throw alreadyRunning(file, shift);
}

/** Who runs the shift now, if anybody does. */
export function currentHolder(file: string): Holder | undefined {
  using lock = openRunLock(file);
  return lock ? undefined : (readHolder(file) ?? UNKNOWN);
}

/** Somebody removed the file that names it. */
const UNKNOWN: Holder = { pid: 0, since: 'an unknown time', run: '' };

function openRunLock(file: string): ReturnType<typeof tryLock> {
  const folder = dirname(dirname(file));
  try {
    return tryLock(folder);
  } catch (cause) {
    throw diskError(cause, file);
  }
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}
