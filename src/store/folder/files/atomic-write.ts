import * as fs from 'node:fs';
import { accessSync, type BigIntStats, close, closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs';
import { readdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { NightshiftError } from '../../../core/model/errors.ts';
import type { EventType } from '../../../core/model/events.ts';
import { systemError } from '../../../core/model/system-errors.ts';
import { retryPassing } from './retry.ts';

/** The moments inside a write at which a crash could leave something half done. */
export const WRITE_POINTS = [
  'table:written',
  'table:synced',
  'table:renamed',
  'document:written',
  'document:synced',
  'document:renamed',
  'task:written',
  'task:synced',
  'task:renamed',
  'lessons:written',
  'lessons:synced',
  'lessons:renamed',
  'journal:flushed',
] as const;

/**
 * Where the crash tests may end the process (`NIGHTSHIFT_CRASH_AT=name#n`); a no-op for users. Besides the moments
 * inside writes, every type of event is one: just emitted, and not in the journal yet.
 */
export type Failpoint = (name: (typeof WRITE_POINTS)[number] | EventType) => void;

/** The name of a file that is being written, or was when its writer died. Names the process; older names do not. */
export const TEMPORARY = /^\.[^/]+\.([0-9]+)(-[0-9]+)?\.nightshift-tmp$/;
let counter = 0;

/** A name that no other process uses, for a file that is going to be called `name`. */
export function temporaryName(name: string): string {
  return `.${name}.${process.pid}-${counter++}.nightshift-tmp`;
}

const fsync = promisify(fs.fsync);
const writev = promisify(fs.writev);

/**
 * Replaces a file so that after a power cut it is the old one or the new one: temporary file, fsync, checked length
 * (a full disk can write less than asked without an error), rename, fsync of the folder. Returns the fingerprint of
 * the new file. Undefined if `isCurrent` said at the last moment that the file is not the one that the bytes were
 * made from; then nothing was replaced.
 */
export async function replaceFile(
  file: string,
  content: Uint8Array | readonly Uint8Array[],
  mode: number,
  failpoint: Failpoint = () => {},
  isCurrent: () => boolean | Promise<boolean> = () => true,
): Promise<string | undefined> {
  try {
    return await replaceAt(file, content, mode, failpoint, isCurrent);
  } catch (cause) {
    throw diskError(cause, file);
  }
}

/** Throws what the system reports. */
export async function replaceAt(
  file: string,
  content: Uint8Array | readonly Uint8Array[],
  mode: number,
  failpoint: Failpoint,
  isCurrent: () => boolean | Promise<boolean> = () => true,
): Promise<string | undefined> {
  const temporary = join(dirname(file), temporaryName(basename(file)));
  const point = pointOf(basename(file));
  const pieces = content instanceof Uint8Array ? [content] : content;
  await lastReleased;
  try {
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
    const fd = await retryPassing(() => openSync(temporary, flags, mode));
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const release = length < LARGE_BYTES ? () => {} : holdReplaced(file);
    try {
      await writeAll(fd, pieces);
      failpoint(`${point}:written`);
      await fsync(fd);
      const { size } = fstatSync(fd);
      if (size !== length) throw shortWrite(`only ${size} of ${length} bytes were written`);
      failpoint(`${point}:synced`);
      if (!(await isCurrent())) {
        await unlink(temporary);
        return undefined;
      }
      await rename(temporary, file);
      failpoint(`${point}:renamed`);
      await syncFolder(dirname(file));
      // Of our own open file, not of the path: another process may have written to the path since.
      return fingerprint(fstatSync(fd, { bigint: true }));
    } finally {
      closeSync(fd);
      release();
    }
  } catch (cause) {
    await unlink(temporary).catch(() => {});
    throw cause;
  }
}

/** `task`: also the versions of a task file that are kept. */
function pointOf(name: string): 'table' | 'lessons' | 'task' | 'document' {
  if (name.endsWith('.csv')) return 'table';
  if (name === 'lessons.json') return 'lessons';
  return name.endsWith('.md') && name !== 'manager.md' ? 'task' : 'document';
}

/** Tells whether a file is still the one that was read or written. Includes ctime, which can't be set. */
export function fingerprint(stats: BigIntStats): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

function shortWrite(message: string): Error {
  return Object.assign(new Error(message), { code: 'ENOSPC' });
}

async function writeAll(fd: number, pieces: readonly Uint8Array[]): Promise<void> {
  for (let left = pieces.filter(({ length }) => length > 0); left.length > 0; ) {
    const { bytesWritten } = await writev(fd, left);
    if (bytesWritten === 0) throw shortWrite('nothing more could be written');
    left = without(left, bytesWritten);
  }
}

/** The rest of the pieces after this many bytes: a system may write less than it was given. */
function without(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - rest.length;
    return rest.length > 0 ? [rest] : [];
  });
}

/** The next write waits for this: it may need the space of the last one. */
let lastReleased: Promise<void> = Promise.resolve();
const LARGE_BYTES = 1024 * 1024;

/** A large file that is held open while it is replaced is freed when it is closed, not while callers wait. */
function holdReplaced(file: string): () => void {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return () => {};
  }
  return () => {
    lastReleased = new Promise((resolve) => close(fd, () => resolve()));
  };
}

export async function syncFolder(folder: string): Promise<void> {
  const fd = await retryPassing(() => openSync(folder, constants.O_RDONLY));
  try {
    await fsync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Removes what a crash between write and rename left behind, and nothing that another process is writing now. */
export async function removeTemporaries(folder: string): Promise<void> {
  for (const name of await retryPassing(() => readdir(folder))) {
    const [, pid, count] = TEMPORARY.exec(name) ?? [];
    if (pid === undefined || (count !== undefined && isOther(Number(pid)))) continue;
    await unlink(join(folder, name)).catch(() => {});
  }
}

/** A process that runs now, and is not this one. */
function isOther(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Turns refusals of the system into errors that say what to do. Anything else is a bug and stays as it is. */
export function diskError(cause: unknown, file: string): unknown {
  const code = (cause as NodeJS.ErrnoException).code ?? '';
  if (!['EROFS', 'EACCES', 'EPERM'].includes(code)) return systemError(cause, file) ?? cause;
  const hint = `make ${placeToOpen(file)} writable for this user`;
  return new NightshiftError('bad-folder', `no permission to write ${file} (${code})`, hint, { file });
}

/**
 * What needs the permission: a file is created and replaced in its folder; if that does not exist yet, in the one
 * above.
 */
function placeToOpen(file: string): string {
  const isFolder = existsSync(`${file}/`);
  if (isFolder) return file;
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  try {
    accessSync(folder, constants.W_OK);
    return file;
  } catch {
    return folder;
  }
}
