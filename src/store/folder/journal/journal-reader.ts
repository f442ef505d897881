import { closeSync, lstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isReadable } from '../../../core/model/event-shape.ts';
import type { NightshiftEvent } from '../../../core/model/events.ts';
import { withCurrentNames } from '../../../core/model/older-events.ts';
import { retryPassing } from '../files/retry.ts';
import { notAFile, READ_ONLY_HERE, readError } from '../table/table-file.ts';

const NEWLINE = 0x0a;
const CHUNK_BYTES = 256 * 1024;
/** Longer than any line of Nightshift. Other lines must not fill the memory. */
const LONGEST_LINE = 64 * 1024 * 1024;
/** The first line begins with its type, its time and its run. */
const HEAD_BYTES = 512;
const OLDER = /^journal-(\d{4,})\.jsonl$/;

/** The position of a reader: in which file, and how far. */
export interface Position {
  readonly id: string;
  readonly offset: number;
}

export interface ReadOptions {
  /** Byte offsets. */
  readonly from?: number;
  readonly to?: number;
  /** Only lines with all of these texts. Skipping the others is cheap. */
  readonly containing?: readonly string[];
}

export function fileId({ dev, ino }: { dev: number | bigint; ino: number | bigint }): string {
  return `${dev}:${ino}`;
}

/** Earlier files of the journal, oldest first. */
export function olderFiles(journal: string): { file: string; number: number; id: string }[] {
  const folder = dirname(journal);
  const current = idAt(journal);
  return namesIn(folder)
    .flatMap((name) => {
      const number = OLDER.exec(name)?.[1];
      const id = number === undefined ? undefined : idAt(join(folder, name));
      return number === undefined || id === undefined ? [] : [{ file: join(folder, name), number: Number(number), id }];
    })
    .filter(({ id }) => id !== current)
    .sort((a, b) => a.number - b.number);
}

/** The name for the next one. No earlier file had it. */
export function nextOlder(journal: string, folder: string): string {
  const numbers = namesOfOlder(folder).map((name) => Number(OLDER.exec(name)?.[1]));
  const number = String(Math.max(0, ...numbers) + 1).padStart(4, '0');
  return `${basename(journal, '.jsonl')}-${number}.jsonl`;
}

export function namesOfOlder(folder: string): string[] {
  return namesIn(folder).filter((name) => OLDER.test(name));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function idAt(file: string): string | undefined {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? fileId(found) : undefined;
  } catch {
    return undefined;
  }
}

/** Where the journal ends now; undefined if there is none. */
export function journalEnd(journal: string): Position | undefined {
  try {
    const found = lstatSync(journal, { throwIfNoEntry: false });
    return found && { id: fileId(found), offset: found.size };
  } catch {
    return undefined;
  }
}

/** The events since a position, across files. All events if that file is gone, or there was none. */
export async function* readSince(
  journal: string,
  position: Position | undefined,
  containing: readonly string[] = [],
): AsyncGenerator<NightshiftEvent> {
  const end = journalEnd(journal);
  if (position && end?.id === position.id && end.offset >= position.offset) {
    yield* readEvents(journal, { from: position.offset, containing });
    return;
  }
  const older = olderFiles(journal);
  const found = older.findIndex(({ id }) => id === position?.id);
  for (const [i, { file, id }] of older.entries()) {
    if (i < found) continue;
    yield* readEvents(file, { from: id === position?.id ? position.offset : 0, containing });
  }
  yield* readEvents(journal, { containing });
}

/**
 * The files with the events of a run, oldest first. The first line of a file names the run that began it; the file
 * before may have more of that run.
 */
export function filesOfRun(journal: string, run: string): string[] {
  const files = [...olderFiles(journal).map(({ file }) => file), journal];
  let first = files.length - 1;
  while (first > 0 && firstLine(files[first]!).includes(`"run":${JSON.stringify(run)}`)) first--;
  return files.slice(first);
}

/** Not necessarily all of it. */
function firstLine(file: string): string {
  try {
    const fd = openSync(file, READ_ONLY_HERE);
    try {
      const head = Buffer.alloc(HEAD_BYTES);
      const text = head.subarray(0, readSync(fd, head, 0, HEAD_BYTES, 0)).toString('utf8');
      return text.startsWith('{"type":"checkpoint:started"') ? text.split('\n', 1)[0]! : '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** The events of one file. Skips half lines and lines that are no events. A missing file has none. */
export async function* readEvents(file: string, options: ReadOptions = {}): AsyncGenerator<NightshiftEvent> {
  for await (const { value } of readValues(file, options)) if (isReadable(value)) yield value;
}

/** The JSON values of one file, line by line. */
export async function* readValues(
  file: string,
  options: ReadOptions = {},
): AsyncGenerator<{ value: unknown; isFirst: boolean }> {
  let handle: FileHandle | undefined;
  try {
    handle = await retryPassing(() => open(file, READ_ONLY_HERE));
    const stats = await handle.stat();
    if (!stats.isFile()) throw notAFile(stats.isDirectory(), file);
    yield* valuesIn(handle, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw readError(error, file);
  } finally {
    await handle?.close();
  }
}

/** The JSON values of an open file. */
export async function* valuesIn(
  handle: FileHandle,
  { from = 0, to = Number.POSITIVE_INFINITY, containing = [] }: ReadOptions,
): AsyncGenerator<{ value: unknown; isFirst: boolean }> {
  const needles = containing.map((text) => Buffer.from(text));
  const isWanted = (bytes: Buffer) => needles.every((needle) => bytes.includes(needle));
  let isFirst = from === 0;
  for await (const lines of chunksOf(handle, from, to, isWanted)) {
    for (const line of lines) {
      const first = isFirst;
      isFirst = false;
      if (!isWanted(line)) continue;
      const value = parseLine(line);
      if (value !== undefined) yield { value, isFirst: first };
    }
  }
}

/** The JSON object in a line; undefined if there is none. */
export function parseLine(line: Buffer): unknown {
  if (line[0] !== 0x7b) return undefined;
  try {
    return withCurrentNames(JSON.parse(line.toString('utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Lines without line ends, grouped by chunk of the file. The last one may be incomplete. Most lines of a chunk that is
 * not wanted are left out: to look at a chunk takes a tenth of the time that its lines take.
 */
async function* chunksOf(
  handle: FileHandle,
  from: number,
  to: number,
  isWanted: (chunk: Buffer) => boolean,
): AsyncGenerator<Buffer[]> {
  let rest: Buffer[] = [];
  let restLength = 0;
  for (let offset = from; offset < to; ) {
    const space = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - offset));
    const { bytesRead } = await handle.read(space, 0, space.length, offset);
    if (bytesRead === 0) break;
    offset += bytesRead;
    const chunk = space.subarray(0, bytesRead);
    const first = chunk.indexOf(NEWLINE);
    const last = chunk.lastIndexOf(NEWLINE);
    if (first >= 0) {
      const whole = chunk.subarray(first + 1, last + 1);
      const line = chunk.subarray(0, first);
      yield [restLength === 0 ? line : Buffer.concat([...rest, line]), ...(isWanted(whole) ? linesIn(whole) : [])];
      [rest, restLength] = [[], 0];
    }
    const torn = chunk.subarray(last + 1);
    if (torn.length > 0 && restLength < LONGEST_LINE) rest.push(torn);
    restLength += torn.length;
  }
  if (restLength > 0) yield [Buffer.concat(rest)];
}

function linesIn(chunk: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let begin = 0; begin < chunk.length; ) {
    const end = chunk.indexOf(NEWLINE, begin);
    lines.push(chunk.subarray(begin, end));
    begin = end + 1;
  }
  return lines;
}
