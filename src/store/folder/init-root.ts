import { lstatSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { diskError, replaceFile } from './files/atomic-write.ts';
import { readHere } from './files/read-here.ts';
import { archiveFolder, GITIGNORE, shiftsFolder } from './layout.ts';
import { readError } from './table/table-file.ts';

/** Creates the `.nightshift` folder with its archive and its `.gitignore`. Lines that you added stay. */
export async function initRoot(root: string): Promise<{ folder: string; changed: boolean }> {
  const folder = shiftsFolder(root);
  const file = join(folder, '.gitignore');
  try {
    await mkdir(archiveFolder(root), { recursive: true });
    const present = textOf(file);
    const lines = present.split(/\r?\n/);
    const missing = GITIGNORE.split('\n').filter((line) => line !== '' && !lines.includes(line));
    if (missing.length === 0) return { folder, changed: false };
    const gap = present === '' || present.endsWith('\n') ? '' : '\n';
    await replaceFile(file, Buffer.from(`${present}${gap}${missing.join('\n')}\n`), 0o644);
    return { folder, changed: true };
  } catch (cause) {
    throw cause instanceof NightshiftError ? cause : diskError(cause, folder);
  }
}

function textOf(file: string): string {
  if (!lstatSync(file, { throwIfNoEntry: false })) return '';
  try {
    return readHere(file);
  } catch (cause) {
    throw readError(cause, file);
  }
}
