import { hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { JournalPlace } from '../../../core/page/stream-position.ts';
import { type OpenFile, openForReading } from '../files/read-here.ts';
import { fileId, journalEnd, olderFiles } from './journal-reader.ts';
import { type Line, linesBefore, linesFrom, readAt } from './line-span.ts';

const NEWLINE = 0x0a;
/** Of the line before a place: enough to tell that a file was emptied and filled again. */
const TAIL_BYTES = 64;
const AT_ONCE_BYTES = 256 * 1024;

/** Before all events, also of a journal that is not there yet. */
export const BEGINNING: JournalPlace = { file: '', offset: 0, tail: '' };

export interface JournalStep {
  readonly lines: readonly Line[];
  /** After these lines. */
  readonly place: JournalPlace;
  /** There is nothing more for now. */
  readonly isAtEnd: boolean;
}

/**
 * Lines of the journal from a place on, which may be in a file that the journal has continued since. A new file may
 * begin with a checkpoint, whose lines are not events. Undefined if the place is gone: the file was removed, cut or
 * overwritten.
 */
export async function readOn(journal: string, place: JournalPlace): Promise<JournalStep | undefined> {
  const files = filesOf(journal);
  const at = place.file === '' ? 0 : files.findIndex(({ id }) => id === place.file);
  const file = files[at];
  if (file === undefined) return files.length === 0 && place.offset === 0 ? atEnd(place) : undefined;
  await using opened = await openFile(file.path, file.id);
  // Continued in another file just now: the next call finds it.
  if (!opened) return { lines: [], place, isAtEnd: false };
  const { handle, size } = opened;
  const here = place.file === '' ? { ...place, file: file.id } : place;
  if (size < here.offset) return undefined;
  if (size > here.offset) {
    if ((await tailAt(handle, here.offset)) !== here.tail) return undefined;
    const { lines, to } = await linesFrom(handle, here.offset, AT_ONCE_BYTES);
    if (to > here.offset) return { lines, place: await placeAt(handle, file.id, to), isAtEnd: false };
  }
  const next = files[at + 1];
  // A line that was torn in an older file stays torn.
  return next ? { lines: [], place: { ...BEGINNING, file: next.id }, isAtEnd: false } : atEnd(here);
}

/** After the last whole line. */
export async function endOfJournal(journal: string): Promise<JournalPlace> {
  for (;;) {
    const end = journalEnd(journal);
    if (!end) return BEGINNING;
    await using opened = await openFile(journal, end.id);
    if (!opened) continue;
    const { to } = await linesBefore(opened.handle, opened.size, AT_ONCE_BYTES);
    return await placeAt(opened.handle, end.id, to);
  }
}

/** The place after one of the lines that were read from a file. */
export function placeAfter(file: string, { bytes, end }: Line): JournalPlace {
  return { file, offset: end, tail: digest(bytes.subarray(-TAIL_BYTES + 1)) };
}

/** All files of the journal, oldest first. */
export function filesOf(journal: string): { readonly path: string; readonly id: string }[] {
  const end = journalEnd(journal);
  const older = olderFiles(journal).map(({ file, id }) => ({ path: file, id }));
  return end ? [...older, { path: journal, id: end.id }] : older;
}

/** Undefined if another file has that name by now. */
export async function openFile(path: string, id: string): Promise<OpenFile | undefined> {
  const opened = await openForReading(path);
  if (opened === undefined || fileId(opened) === id) return opened;
  await opened[Symbol.asyncDispose]();
  return undefined;
}

function atEnd(place: JournalPlace): JournalStep {
  return { lines: [], place, isAtEnd: true };
}

async function placeAt(handle: FileHandle, file: string, offset: number): Promise<JournalPlace> {
  return { file, offset, tail: await tailAt(handle, offset) };
}

/** Of the last line that ends there, without what precedes it. */
async function tailAt(handle: FileHandle, offset: number): Promise<string> {
  if (offset === 0) return '';
  const from = Math.max(0, offset - TAIL_BYTES);
  const bytes = await readAt(handle, from, offset - from);
  return digest(bytes.subarray(bytes.lastIndexOf(NEWLINE, bytes.length - 2) + 1, bytes.length - 1));
}

function digest(line: Buffer): string {
  return hash('sha256', line).slice(0, 8);
}
