import { linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs';
import { NightshiftError } from '../../../core/model/errors.ts';
import { syncFolder } from '../files/atomic-write.ts';
import type { InnerFolder } from '../files/inside.ts';
import type { JournalFile } from './append-file.ts';
import { fileId, namesOfOlder, nextOlder } from './journal-reader.ts';

const LINES_AT_ONCE = 1000;

/** Durable when it resolves. Returns its size in bytes. */
export async function writeCheckpoint(
  file: JournalFile,
  known: readonly string[],
  waiting: readonly string[],
): Promise<number> {
  for (let i = 0; i < known.length - 1; i += LINES_AT_ONCE) {
    await file.append(`${known.slice(i, Math.min(i + LINES_AT_ONCE, known.length - 1)).join('\n')}\n`);
  }
  await file.append(waiting.join(''));
  const last = { ...JSON.parse(known.at(-1)!), bytes: file.size };
  await file.append(`${JSON.stringify(last)}\n`);
  await file.sync();
  return file.size;
}

/** Its last line says how long it is. */
export function checkpointBytes(line: unknown): number | undefined {
  const { type, bytes } = line as { type?: unknown; bytes?: unknown };
  return type === 'checkpoint:ended' && typeof bytes === 'number' ? bytes : undefined;
}

interface Placing {
  readonly temporary: string;
  readonly name: string;
  /** The id of the present file, which is kept beside it. */
  readonly old: string | undefined;
  /** Even if that can't be kept. */
  readonly isForced: boolean;
}

/** Gives a file its name. False if another file has it by now. A crash leaves the old file there, or the new one. */
export async function putInPlace(folder: InnerFolder, placing: Placing): Promise<boolean> {
  const { temporary, name, old } = placing;
  const isPlaced = old === undefined ? placeNew(folder, temporary, name) : replaceOld(folder, old, placing);
  if (isPlaced) await syncFolder(folder.at('.'));
  return isPlaced;
}

function replaceOld(folder: InnerFolder, id: string, { temporary, name, isForced }: Placing): boolean {
  if (idOf(folder.at(name)) !== id) return false;
  try {
    // A crash right after the link leaves one file with two names: then it is kept already.
    const isKept = namesOfOlder(folder.at('.')).some((older) => idOf(folder.at(older)) === id);
    if (!isKept) linkSync(folder.at(name), folder.at(nextOlder(name, folder.at('.'))));
  } catch (cause) {
    // Some file systems have no hard links.
    if (!isForced) return false;
    if ((cause as NodeJS.ErrnoException).code === 'ENOSPC') throw cause;
  }
  renameSync(folder.at(temporary), folder.at(name));
  return true;
}

/** Never replaces what another process has just created. */
function placeNew(folder: InnerFolder, temporary: string, name: string): boolean {
  try {
    linkSync(folder.at(temporary), folder.at(name));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    renameSync(folder.at(temporary), folder.at(name));
  }
  removeIfThere(folder.at(temporary));
  return true;
}

export function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch {}
}

/** Undefined if there is nothing, or nothing that can be read. */
export function idOf(path: string): string | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found && fileId(found);
  } catch {
    return undefined;
  }
}

export function cantKeep(file: string): NightshiftError {
  const hint = 'find out which program that is, then start again; the table is intact';
  return new NightshiftError('disk', `${file} can't be written: another program keeps replacing it`, hint, { file });
}

export function isMissing(cause: unknown): boolean {
  const { code } = cause as { code?: unknown };
  return code === 'ENOENT' || code === 'not-found';
}

/** `moved`: the folder of the shift is another one, or gone. */
export type Whereabouts = 'here' | 'moved' | 'missing' | 'other';

export function whereIs(id: string, journal: string, folder: { path: string; id: string | undefined }): Whereabouts {
  if (idOf(folder.path) !== folder.id) return 'moved';
  const found = idOf(journal);
  if (found === id) return 'here';
  return found === undefined ? 'missing' : 'other';
}
