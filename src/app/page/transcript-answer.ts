import { NightshiftError } from '../../core/model/errors.ts';
import type { TranscriptLine } from '../../core/model/events.ts';
import { itemKey } from '../../core/model/identity.ts';
import type { FindAnswer, TranscriptAnswer, TranscriptEntryAnswer } from '../../core/page/answers.ts';
import { type OpenFile, openForReading } from '../../store/folder/files/read-here.ts';
import { type Line, lineStart, linesBefore, linesFrom } from '../../store/folder/journal/line-span.ts';
import { findTask } from '../find-task.ts';
import { parseTranscriptLine } from '../run/read-transcripts.ts';
import type { SessionName, TranscriptPart } from './page.ts';
import type { ShiftReading } from './shift-reader.ts';

const PART_BYTES = 256 * 1024;
const SEARCH_BYTES = 1024 * 1024;
const LONGEST_TEXT = 20_000;
const LONGEST_ENTRY = 1024 * 1024;
const MOST_FOUND = 500;

/** A part of what was said in one session: its end, unless a part is named. Nothing if nothing was said yet. */
export async function answerTranscript(
  reading: ShiftReading,
  session: SessionName,
  part?: TranscriptPart,
): Promise<TranscriptAnswer> {
  await using file = await openTranscript(reading, session);
  if (!file) return { from: 0, to: 0, size: 0, entries: [] };
  const { handle, size } = file;
  const span =
    part && 'from' in part
      ? await linesFrom(handle, await lineStart(handle, within(part.from, size)), PART_BYTES)
      : await linesBefore(handle, within(part?.before ?? size, size), PART_BYTES);
  const entries = span.lines.flatMap((line) => entryIn(line, LONGEST_TEXT) ?? []);
  return { from: span.from, to: span.to, size, entries };
}

/** One entry in full. */
export async function answerEntry(
  reading: ShiftReading,
  session: SessionName,
  offset: number,
): Promise<TranscriptEntryAnswer> {
  await using file = await openTranscript(reading, session);
  const [line] = file ? (await linesFrom(file.handle, within(offset, file.size), PART_BYTES)).lines : [];
  const entry = line && entryIn(line, LONGEST_ENTRY);
  if (entry) return entry;
  throw new NightshiftError('not-found', `there is no entry at ${offset}`, 'the transcript has changed: read it again');
}

/** The entries with a text, in capitals or not. */
export async function findInTranscript(
  reading: ShiftReading,
  session: SessionName,
  text: string,
  signal?: AbortSignal,
): Promise<FindAnswer> {
  const wanted = text.toLowerCase();
  await using file = await openTranscript(reading, session);
  const offsets: number[] = [];
  if (!file || wanted === '') return { offsets, isCut: false };
  for (let at = 0; !signal?.aborted; ) {
    const { lines, to } = await linesFrom(file.handle, at, SEARCH_BYTES);
    for (const line of lines) {
      if (!hasText(parseTranscriptLine(line.bytes.toString('utf8')), wanted)) continue;
      if (offsets.length === MOST_FOUND) return { offsets, isCut: true };
      offsets.push(line.start);
    }
    if (to === at) return { offsets, isCut: false };
    at = to;
  }
  return { offsets, isCut: true };
}

function hasText(line: TranscriptLine | undefined, wanted: string): boolean {
  if (line === undefined) return false;
  const texts = [...('text' in line ? [line.text] : []), ...('tool' in line ? [line.tool] : [])];
  return texts.some((text) => typeof text === 'string' && text.toLowerCase().includes(wanted));
}

function entryIn({ bytes, start }: Line, longest: number): TranscriptEntryAnswer | undefined {
  const line = parseTranscriptLine(bytes.toString('utf8'));
  if (line === undefined) return undefined;
  if (!('text' in line) || line.text.length <= longest) return { offset: start, line };
  return { offset: start, line: { ...line, text: line.text.slice(0, longest) }, cut: line.text.length - longest };
}

async function openTranscript(
  { place, shift }: ShiftReading,
  { task, item, role }: SessionName,
): Promise<OpenFile | undefined> {
  const key = itemKey(shift.identity, findTask(shift, task).name, item);
  return openForReading(place.paths.transcript(task, key, role));
}

/** An offset of the file. */
function within(offset: number, size: number): number {
  return Math.max(0, Math.min(Math.floor(offset) || 0, size));
}
