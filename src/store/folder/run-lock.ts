import { closeSync, constants, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../../core/model/errors.ts';
import { localTime } from '../../core/text/local-time.ts';
import { diskError } from './files/atomic-write.ts';
import { pidOfLock, tryLock } from './files/flock.ts';
import { openInside } from './files/inside.ts';
import { readHere } from './files/read-here.ts';
import { retryPassing } from './files/retry.ts';
import type { ShiftPaths } from './layout.ts';

export interface Holder {
  readonly pid: number;
  readonly since: string;
  /** The id of a run, or the name of a command. */
  readonly run: string;
}

/** They have the shift for themselves, as a run has it. They can't be followed, stopped or paused. */
const COMMANDS = ['archive', 'batch close', 'batch open', 'deliver', 'doctor', 'prune'] as const;

export type LockingCommand = (typeof COMMANDS)[number];

/** Whether a command holds the lock, and not a run. */
export function isCommand({ run }: Holder): boolean {
  return (COMMANDS as readonly string[]).includes(run);
}

/** For a command that needs the shift for itself. Throws `already-running`, naming the holder. */
export function lockForCommand(paths: ShiftPaths, command: LockingCommand, now: number): Promise<Disposable> {
  return takeRunLock(paths, { pid: process.pid, since: new Date(now).toISOString(), run: command });
}

/**
 * One run at a time for a shift (rule T6). The lock is on the shift's folder, which no clean-up removes during a run.
 * The kernel releases the lock of a dead run. The file only names the holder.
 */
export async function takeRunLock(paths: ShiftPaths, holder: Holder): Promise<Disposable> {
  const { runLock: file, name } = paths;
  let lock = await retryPassing(() => openRunLock(file));
  // `status` takes the lock for a moment to see whether a run has it.
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

/** For readers. Written again after the file was removed. */
export function nameHolder({ folder, runLock }: ShiftPaths, holder: Holder): void {
  const fd = openInside(folder, runLock, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeSync(fd, JSON.stringify(holder));
  } finally {
    closeSync(fd);
  }
}

/**
 * The process that runs the shift now, for sending it a signal. The file may name a dead run while another process
 * tests the lock, and its process id may belong to another program by now. Where the system tells who holds a lock
 * (Linux), that must be the process that the file names.
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
  const who = other ? `process ${other.pid} since ${localTime(other.since, Date.now())}` : 'another process';
  if (other && isCommand(other)) {
    const message = `${shift} is in use by \`nightshift ${other.run}\`, ${who}`;
    return new NightshiftError('already-running', message, 'wait until it has ended');
  }
  return new NightshiftError(
    'already-running',
    `${shift} is already being run by ${who}`,
    `\`nightshift attach ${shift}\` shows it, \`nightshift stop ${shift}\` ends it`,
  );
}

/** For a command that changes something before it starts a run. */
export function refuseSecondRun(file: string, shift: string): void {
  if (currentHolder(file)) throw alreadyRunning(file, shift);
}

/** The process that runs the shift now, if any. */
export function currentHolder(file: string): Holder | undefined {
  using lock = openRunLock(file);
  return lock ? undefined : (lastHolder(file) ?? UNKNOWN);
}

/** The file that names the holder was removed. */
const UNKNOWN: Holder = { pid: 0, since: 'an unknown time', run: '' };

/** For a moment only: it names no holder. Undefined if another process has it. */
export function openRunLock(file: string): ReturnType<typeof tryLock> {
  try {
    return tryLock(folderOf(file));
  } catch (cause) {
    throw diskError(cause, file);
  }
}

/** The last holder of the lock, which may be gone. */
export function lastHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readHere(file)) as Holder;
  } catch {
    return undefined;
  }
}

/** The locked folder. The file only names the holder. */
function folderOf(file: string): string {
  return dirname(dirname(file));
}
