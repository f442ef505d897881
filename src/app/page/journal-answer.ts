import { isCheckpoint } from '../../core/folds/checkpoint.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { isReadable } from '../../core/model/event-shape.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import type { JournalAnswer } from '../../core/page/history-answers.ts';
import { filesOf, openFile } from '../../store/folder/journal/journal-place.ts';
import { parseLine } from '../../store/folder/journal/journal-reader.ts';
import { type Line, linesBefore } from '../../store/folder/journal/line-span.ts';
import { checkpointBytes } from '../../store/folder/journal/replace-journal.ts';
import type { JournalFilter } from './page.ts';

const MOST_EVENTS = 200;
const PART_BYTES = 256 * 1024;
/** An answer comes soon, also if nothing matches in a journal of many megabytes: the next one continues. */
const MOST_BYTES = 16 * 1024 * 1024;
const CURSOR = /^(\d+:\d+)\.(\d+)$/;

type Found = JournalAnswer['events'][number];

interface Cursor {
  readonly file: string;
  readonly before: number;
}

/** The latest events first, from the end or from where an earlier answer ended. */
export async function answerJournal(journal: string, filter: JournalFilter): Promise<JournalAnswer> {
  const needles = needlesOf(filter);
  const events: Found[] = [];
  let cursor = filter.before === undefined ? endOf(journal) : readCursor(filter.before);
  for (let left = MOST_BYTES; cursor && left > 0 && events.length < MOST_EVENTS; ) {
    const part = await readPart(journal, cursor);
    left -= part.bytes;
    let next = part.next;
    for (const line of part.lines.toReversed()) {
      const event = eventIn(line, filter, needles);
      if (event === undefined) continue;
      events.push({ position: writeCursor({ file: cursor.file, before: line.start }), event });
      if (events.length === MOST_EVENTS) {
        next = { file: cursor.file, before: line.start };
        break;
      }
    }
    cursor = next;
  }
  return { events, ...(cursor ? { before: writeCursor(cursor) } : {}) };
}

interface Part {
  readonly lines: readonly Line[];
  readonly bytes: number;
  /** Where the lines before these end; undefined: there are none. */
  readonly next: Cursor | undefined;
}

async function readPart(journal: string, { file, before }: Cursor): Promise<Part> {
  const files = filesOf(journal);
  const at = files.findIndex(({ id }) => id === file);
  await using opened = at < 0 ? undefined : await openFile(files[at]!.path, file);
  if (!opened) throw gone();
  const earlier = files[at - 1];
  const older = earlier && { file: earlier.id, before: Number.POSITIVE_INFINITY };
  const { lines, from, to } = await linesBefore(opened.handle, Math.min(before, opened.size), PART_BYTES);
  const begin = beginOfEvents(lines);
  if (begin !== undefined) return { lines: lines.slice(begin), bytes: to - from, next: older };
  return { lines, bytes: to - from, next: from > 0 ? { file, before: from } : older };
}

/**
 * A file may begin with a checkpoint, which can be far longer than its events: all lines above its last one are part of
 * it, except for a few events right above. Undefined if these lines are not the end of one. Only a checkpoint knows its
 * own length, so that no other program hides events.
 */
function beginOfEvents(lines: readonly Line[]): number | undefined {
  const last = lines.findLastIndex((line) => {
    const bytes = line.bytes.includes('checkpoint:ended') ? checkpointBytes(parseLine(line.bytes)) : undefined;
    return bytes === line.start;
  });
  if (last < 0) return undefined;
  const above = lines.slice(0, last).findLastIndex(({ bytes }) => isCheckpoint(parseLine(bytes)));
  return above < 0 ? undefined : above + 1;
}

function eventIn({ bytes }: Line, filter: JournalFilter, needles: readonly Buffer[]): NightshiftEvent | undefined {
  if (!needles.every((needle) => bytes.includes(needle))) return undefined;
  const value = parseLine(bytes);
  if (!isReadable(value) || isCheckpoint(value)) return undefined;
  const { type, task, item } = filter;
  const isWanted =
    (type === undefined || value.type === type) &&
    (task === undefined || value.task === task) &&
    (item === undefined || value.item === item);
  return isWanted ? value : undefined;
}

/** Lines without these need not be parsed. The type may have an older name. */
function needlesOf({ task, item }: JournalFilter): Buffer[] {
  const texts = Object.entries({ task, item }).filter(([, value]) => value !== undefined);
  return texts.map(([name, value]) => Buffer.from(`"${name}":${JSON.stringify(value)}`));
}

function endOf(journal: string): Cursor | undefined {
  const last = filesOf(journal).at(-1);
  return last && { file: last.id, before: Number.POSITIVE_INFINITY };
}

function writeCursor({ file, before }: Cursor): string {
  return `${file}.${Number.isFinite(before) ? before : Number.MAX_SAFE_INTEGER}`;
}

function readCursor(text: string): Cursor {
  const [, file, before] = CURSOR.exec(text) ?? [];
  if (file === undefined) throw new NightshiftError('usage', `${JSON.stringify(text)} is no position in a journal`);
  return { file, before: Number(before) };
}

function gone(): NightshiftError {
  return new NightshiftError('not-found', 'the journal was replaced since', 'read it from its end');
}
