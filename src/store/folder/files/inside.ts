import { closeSync, constants, existsSync, fstatSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { diskError, type Failpoint, replaceAt } from './atomic-write.ts';

/** A folder that was reached without following a link. `at(name)` is a path inside this very folder. */
export interface InnerFolder extends Disposable {
  readonly fd: number;
  at(name: string): string;
}

/** Called when something that is no folder or file of Nightshift was in its place. `kept`: where it is now. */
export type OnSetAside = (file: string, kept: string) => void;

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Links may appear faster than they can be set aside. */
const MOST_TRIES = 10;
/** Looks up a name in an open folder, wherever its path leads by now. */
const hasFdPaths = existsSync('/proc/self/fd');

/**
 * Opens the folder of `file`, which is below `base`, and creates missing folders. An agent may replace any folder
 * with a link at any time, so each is opened from within the one above, never by its path.
 */
export function folderOf(base: string, file: string, onSetAside: OnSetAside = () => {}): InnerFolder {
  const names = relative(base, dirname(file)).split(sep).filter(Boolean);
  if (names.includes('..')) throw new Error(`${file} is not inside of ${base}`);
  try {
    let path = base;
    let folder = innerFolder(openSync(base, FOLDER), base);
    for (const name of names) {
      path = join(path, name);
      using above = folder;
      folder = step(above, name, path, onSetAside);
    }
    return folder;
  } catch (cause) {
    throw diskError(cause, file);
  }
}

function step(above: InnerFolder, name: string, path: string, onSetAside: OnSetAside): InnerFolder {
  for (let tries = 1; ; tries++) {
    try {
      return innerFolder(openSync(above.at(name), FOLDER), path);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (tries === MOST_TRIES) throw cause;
      if (code === 'ENOENT') makeFolder(above.at(name));
      else if (code === 'ENOTDIR' || code === 'ELOOP') setAside(above, name, path, onSetAside);
      else throw cause;
    }
  }
}

/**
 * Opens a file below `base` for writing and creates its folders. Something else in its place (a link, a pipe, a
 * folder) is set aside: it is never written through, and a pipe is not waited for.
 */
export function openInside(base: string, file: string, flags: number, onSetAside?: OnSetAside): number {
  const name = basename(file);
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  for (let tries = 1; ; tries++) {
    // Opened each time: it may just have been removed.
    using folder = folderOf(base, file, onSetAside);
    try {
      const fd = openSync(folder.at(name), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      if (fstatSync(fd).isFile()) return fd;
      closeSync(fd);
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException;
      if (tries === MOST_TRIES || !['ELOOP', 'EISDIR', 'ENXIO', 'ENOENT'].includes(code)) throw diskError(cause, file);
    }
    setAside(folder, name, file, onSetAside);
  }
}

/** `replaceFile` for a file below `base`, readable for its owner only. */
export async function replaceInside(
  { base, onSetAside }: { readonly base: string; readonly onSetAside?: OnSetAside },
  file: string,
  content: Uint8Array,
  failpoint: Failpoint = () => {},
): Promise<void> {
  using folder = folderOf(base, file, onSetAside);
  try {
    await replaceAt(folder.at(basename(file)), content, 0o600, failpoint);
  } catch (cause) {
    throw diskError(cause, file);
  }
}

/** The message when something was set aside. */
export function setAsideText(file: string, kept: string): string {
  return `${file} was a link, or not a file of Nightshift; nothing was written through it, and it was moved to ${kept}`;
}

/** Another process may create it at the same moment. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
  }
}

let counter = 0;

/** Renames it, so that nothing is lost: a link itself, not its target. */
export function setAside(folder: InnerFolder, name: string, path: string, onSetAside: OnSetAside = () => {}): void {
  const kept = `${name}.put-back-${new Date().toISOString().replace(/[:.]/g, '')}-${process.pid}-${counter++}`;
  try {
    renameSync(folder.at(name), folder.at(kept));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw cause;
  }
  onSetAside(path, join(dirname(path), kept));
}

function innerFolder(fd: number, path: string): InnerFolder {
  const prefix = hasFdPaths ? `/proc/self/fd/${fd}` : path;
  return { fd, at: (name) => join(prefix, name), [Symbol.dispose]: () => closeSync(fd) };
}
