import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../../core/model/errors.ts';
import type { ShiftId } from '../../core/page/answers.ts';
import type { StreamMessage } from '../../core/page/history-answers.ts';
import { type JournalPosition, readStreamPosition, writeStreamPosition } from '../../core/page/stream-position.ts';
import { BEGINNING } from '../../store/folder/journal/journal-place.ts';
import { JournalTail, positionAtEnd } from './journal-tail.ts';
import type { OpenedShift } from './opened-shift.ts';
import type { StreamItem } from './page.ts';

const LOOK_EVERY_MS = 200;
/** What changes all the time is told once in a while. */
const TELL_EVERY_MS = 1000;

export interface StreamOptions {
  readonly ids: readonly ShiftId[];
  /** The id of the last message that was received. */
  readonly after: string | undefined;
  readonly signal: AbortSignal;
  /** Asked again and again: a shift may be closed meanwhile. */
  readonly open: (id: ShiftId) => OpenedShift;
  readonly now: () => number;
}

/** What happens in some shifts, until `signal` aborts. */
export async function* streamShifts(options: StreamOptions): AsyncGenerator<StreamItem> {
  const { ids, signal } = options;
  const given = readStreamPosition(options.after ?? '');
  const begun = options.now();
  const followed = [...new Set(ids)].map((id) => new FollowedShift(id, options));
  for (const each of followed) await each.begin(given.get(each.id), begun);
  const positionOf = () => writeStreamPosition(new Map(followed.map(({ id, position }) => [id, position])));
  // Says where the stream begins: a reader that is cut off before the first event misses nothing.
  for (const each of followed) yield { id: positionOf(), message: await each.sessions() };
  while (!signal.aborted) {
    for (const each of followed) {
      for await (const message of each.events()) yield { id: positionOf(), message };
      for (const message of await each.changes()) yield { message };
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

class FollowedShift {
  readonly id: ShiftId;
  position: JournalPosition = { ...BEGINNING, at: 0, run: '', seq: 0 };
  readonly #options: StreamOptions;
  #tail: { readonly journal: string; readonly tail: JournalTail } | undefined;
  #toldAt = 0;
  #version = '';
  #sessions = '[]';

  constructor(id: ShiftId, options: StreamOptions) {
    this.id = id;
    this.#options = options;
  }

  async begin(given: JournalPosition | undefined, now: number): Promise<void> {
    this.#version = this.#shift.reader.look();
    // What happens in this very millisecond is new.
    const end = await this.#attempt(() => positionAtEnd(this.#journal, now - 1));
    this.position = given ?? end ?? { ...this.position, at: now - 1 };
  }

  /** All that are new by now. */
  async *events(): AsyncGenerator<StreamMessage> {
    while (!this.#options.signal.aborted) {
      const found = (await this.#attempt(() => this.#followed().read())) ?? [];
      for (const { event, position } of found) {
        this.position = position;
        yield { kind: 'event', shift: this.id, event };
      }
      if (this.#tail) this.position = this.#tail.tail.position;
      if (found.length === 0) return;
    }
  }

  /** What is at work, and whether the table or a document changed. */
  async changes(): Promise<StreamMessage[]> {
    if (performance.now() - this.#toldAt < TELL_EVERY_MS) return [];
    this.#toldAt = performance.now();
    const messages: StreamMessage[] = [];
    const before = this.#sessions;
    const sessions = await this.sessions();
    if (this.#sessions !== before) messages.push(sessions);
    const { reader } = this.#shift;
    const { news } = reader;
    if (news !== undefined && (news !== this.#version || reader.latest?.isPartial)) {
      this.#version = news;
      messages.push({ kind: 'changed', shift: this.id, version: news });
    }
    return messages;
  }

  async sessions(): Promise<StreamMessage> {
    const state = await this.#attempt(() => this.#shift.runState());
    const sessions = state?.sessions ?? [];
    this.#sessions = JSON.stringify(sessions);
    return { kind: 'sessions', shift: this.id, sessions };
  }

  get #shift(): OpenedShift {
    return this.#options.open(this.id);
  }

  /** Throws if the shift is gone. */
  get #journal(): string {
    return this.#shift.reader.place.paths.journal;
  }

  #followed(): JournalTail {
    const journal = this.#journal;
    if (this.#tail?.journal !== journal) this.#tail = { journal, tail: new JournalTail(journal, this.position) };
    return this.#tail.tail;
  }

  /** A shift that can't be read now is followed as soon as it can be. */
  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof NightshiftError) return undefined;
      throw error;
    }
  }
}
