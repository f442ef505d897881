import { constants, type Dirent } from 'node:fs';
import { chmod, copyFile, lstat, lutimes, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { join } from 'node:path';

export interface CopyOptions {
  /** Whether an entry stays behind; its path is relative to the top. */
  readonly isLeftOut?: (path: string) => boolean;
  readonly signal: AbortSignal;
}

/**
 * Copies a folder, a file or a link. Files share their blocks where the file system can (reflink); links stay links.
 * Returns the paths of what can't be copied: sockets, pipes, devices.
 */
export async function copyAll(from: string, to: string, options: CopyOptions): Promise<string[]> {
  const skipped: string[] = [];
  const walk = async (path: string): Promise<void> => {
    options.signal.throwIfAborted();
    const [source, target] = [join(from, path), join(to, path)];
    const found = await lstat(source);
    if (found.isDirectory()) {
      await mkdir(target, { recursive: true, mode: 0o700 });
      for (const { name } of sorted(await readdir(source, { withFileTypes: true }))) {
        const inner = join(path, name);
        if (!options.isLeftOut?.(inner)) await walk(inner);
      }
      // Last: a folder may be read-only.
      await chmod(target, found.mode);
    } else if (found.isSymbolicLink()) {
      await symlink(await readlink(source), target);
    } else if (found.isFile()) {
      await copyFile(source, target, constants.COPYFILE_FICLONE);
    } else {
      skipped.push(path);
      return;
    }
    await lutimes(target, found.atime, found.mtime);
  };
  await walk('');
  return skipped;
}

function sorted(entries: Dirent[]): Dirent[] {
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
