import { isCheckpoint } from '../../core/folds/checkpoint.ts';
import { isReadable } from '../../core/model/event-shape.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { isLater, type JournalPlace, type JournalPosition, type LastEvent } from '../../core/page/stream-position.ts';
import { BEGINNING, endOfJournal, placeAfter, readOn } from '../../store/folder/journal/journal-place.ts';
import { parseLine } from '../../store/folder/journal/journal-reader.ts';

export interface TailEvent {
  readonly event: NightshiftEvent;
  /** After this event. */
  readonly position: JournalPosition;
}

/**
 * The events of a journal from a position on, each once: also when the journal is continued in another file, and as far
 * as possible when another program replaces it.
 */
export class JournalTail {
  readonly #journal: string;
  #place: JournalPlace;
  #last: LastEvent;
  /** In a journal that was replaced: only events after this one are new. */
  #since: LastEvent | undefined;

  constructor(journal: string, { at, run, seq, ...place }: JournalPosition) {
    this.#journal = journal;
    this.#place = place;
    this.#last = { at, run, seq };
    // A journal that was not there yet may be one that comes back.
    if (place.file === '') this.#since = this.#last;
  }

  get position(): JournalPosition {
    return { ...this.#place, ...this.#last };
  }

  /** Some events that are new; none if there are none. */
  async read(): Promise<readonly TailEvent[]> {
    for (;;) {
      const step = await readOn(this.#journal, this.#place);
      if (!step) {
        this.#since ??= this.#last;
        this.#place = BEGINNING;
        continue;
      }
      const found = step.lines.flatMap((line) => {
        const event = this.#take(parseLine(line.bytes));
        return event ? [{ event, position: { ...placeAfter(step.place.file, line), ...this.#last } }] : [];
      });
      this.#place = step.place;
      // As long as there is none, the old one may come back.
      if (step.isAtEnd && step.place.file !== '') this.#since = undefined;
      if (found.length > 0 || step.isAtEnd) return found;
    }
  }

  #take(value: unknown): NightshiftEvent | undefined {
    if (!isReadable(value) || isCheckpoint(value)) return undefined;
    const told = lastEventOf(value, this.#last);
    if (this.#since && !isLater(told, this.#since)) return undefined;
    // A run whose journal was damaged writes its events again.
    if (told.run !== '' && told.run === this.#last.run && told.seq <= this.#last.seq) return undefined;
    this.#last = told;
    return value;
  }
}

/** From now on. */
export async function positionAtEnd(journal: string, now: number): Promise<JournalPosition> {
  return { ...(await endOfJournal(journal)), at: now, run: '', seq: 0 };
}

/** A line of a journal may contain anything. */
function lastEventOf({ at, run, seq }: NightshiftEvent, before: LastEvent): LastEvent {
  return {
    at: Date.parse(at) || before.at,
    run: typeof run === 'string' ? run : '',
    seq: Number.isSafeInteger(seq) && seq >= 0 ? seq : 0,
  };
}
