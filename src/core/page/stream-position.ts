import type { ShiftId } from './answers.ts';

/** Where a reader of a journal is: between two lines of one of its files. */
export interface JournalPlace {
  /** The file, whatever its name is by now; empty: there was none yet. */
  readonly file: string;
  readonly offset: number;
  /** A digest of the line before, by which a file that only has the same number is noticed; empty at the beginning. */
  readonly tail: string;
}

/** The event that was read last, by which a reader finds its place in a journal that was replaced. */
export interface LastEvent {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Empty for an edit by a person; then `seq` is 0. */
  readonly run: string;
  readonly seq: number;
}

export type JournalPosition = JournalPlace & LastEvent;

/** The position in each journal that is followed. */
export type StreamPosition = ReadonlyMap<ShiftId, JournalPosition>;

const SHIFT = /^(?:archive\/)?[a-z0-9][a-z0-9-]*$/;
const POSITION = /^(\d*(?::\d+)?)~([0-9a-z]+)~([0-9a-f]*)~([0-9a-z]+)~([\w-]*)~([0-9a-z]+)$/;

/** As the id of a message: short, and without characters that a header or an address would need to escape. */
export function writeStreamPosition(position: StreamPosition): string {
  return [...position]
    .map(([shift, { file, offset, tail, at, run, seq }]) => {
      const parts = [file, offset.toString(36), tail, at.toString(36), run.replace(/[^\w-]/g, '_'), seq.toString(36)];
      return `${shift}!${parts.join('~')}`;
    })
    .join(',');
}

/** What can't be read is left out: ids come from browsers, and may be of another version. */
export function readStreamPosition(text: string): StreamPosition {
  const position = new Map<ShiftId, JournalPosition>();
  for (const each of text.split(',')) {
    const [shift = '', written = ''] = each.split('!');
    const [, file, offset, tail, at, run, seq] = POSITION.exec(written) ?? [];
    if (file === undefined || !SHIFT.test(shift)) continue;
    const numbers = { offset: whole(offset), at: whole(at), seq: whole(seq) };
    if (Object.values(numbers).every(Number.isSafeInteger)) {
      position.set(shift, { file, tail: tail!, run: run!, ...numbers });
    }
  }
  return position;
}

/** Whether a journal in another file tells this event after the one that was read last. */
export function isLater(event: LastEvent, last: LastEvent): boolean {
  return event.run !== '' && event.run === last.run ? event.seq > last.seq : event.at > last.at;
}

function whole(text: string | undefined): number {
  return Number.parseInt(text ?? '', 36);
}
