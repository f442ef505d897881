import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import type { FileState } from '../core/model/protection.ts';

/** Larger files are not held. */
export const LARGEST_FILE = 64 * 1024 * 1024;

const NONE = 'none';

/** Changes whenever the file does. For a folder, only its kind counts: its content comes and goes. */
export function quickMark(path: string): string {
  const stats = statOf(path);
  if (!stats) return NONE;
  const { dev, ino, size, mtimeMs, ctimeMs, mode } = stats;
  return stats.isDirectory() ? `folder ${mode}` : `${dev}:${ino} ${size} ${mtimeMs} ${ctimeMs} ${mode}`;
}

export interface ReadState {
  readonly state: FileState;
  readonly content?: Buffer;
}

/** What is at a path, with the content of a file. Synchronous: there may be many small files. */
export function readState(path: string): ReadState {
  const stats = statOf(path);
  if (!stats) return { state: { kind: 'none' } };
  const mode = stats.mode & 0o777;
  if (stats.isDirectory()) return { state: { kind: 'folder', mode } };
  if (stats.isSymbolicLink()) return { state: linkState(path) };
  if (!stats.isFile()) return { state: { kind: 'other' } };
  const content = contentOf(path);
  if (!content) return { state: { kind: 'other' } };
  return { state: { kind: 'file', mode, size: content.length, hash: hashOf(content) }, content };
}

export function isSameState(a: FileState, b: FileState): boolean {
  if (a.kind === 'file') return b.kind === 'file' && a.hash === b.hash && a.mode === b.mode;
  if (a.kind === 'link') return b.kind === 'link' && a.target === b.target;
  if (a.kind === 'folder') return b.kind === 'folder' && a.mode === b.mode;
  return a.kind === b.kind;
}

export function hashOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** When it was last changed or removed, in milliseconds since 1970: a time that can't be set. */
export function changedAt(path: string): number {
  const stats = statOf(path);
  if (stats) return stats.ctimeMs;
  const above = path.slice(0, path.lastIndexOf('/'));
  return above === '' ? 0 : changedAt(above);
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function linkState(path: string): FileState {
  try {
    return { kind: 'link', target: readlinkSync(path) };
  } catch {
    return { kind: 'none' };
  }
}

/** It may be replaced meanwhile: a pipe would block forever. */
function contentOf(path: string): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= LARGEST_FILE ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
