import { signal } from '@preact/signals';
import type { TranscriptAnswer, TranscriptEntryAnswer } from '../../../src/core/page/answers.ts';
import { apiPath, ask, type Failure } from '../../state/request.ts';

export interface TranscriptName {
  readonly shift: string;
  readonly task: string;
  readonly item: string;
  readonly role: 'dev' | 'qa';
}

/** Byte offsets of what is loaded, and the size of the file. */
export interface LoadedPart {
  readonly from: number;
  readonly to: number;
  readonly size: number;
  readonly entries: readonly TranscriptEntryAnswer[];
}

/** More is dropped at the end that is farther away, so that the page stays quick. */
const MOST_BYTES = 1_500_000;

/** A part of a transcript that grows in both directions. A file of any size is never loaded as a whole. */
export class TranscriptPages {
  readonly part = signal<LoadedPart | undefined>(undefined);
  readonly failure = signal<Failure | undefined>(undefined);
  readonly #name: TranscriptName;
  readonly #abort = new AbortController();
  /** Where the attempt that is looked at ends; undefined: at the end of the file. */
  #end: number | undefined;
  #isBusy = false;

  constructor(name: TranscriptName) {
    this.#name = name;
  }

  close(): void {
    this.#abort.abort();
  }

  /** The end of the file, or of the attempt that ended at this time. */
  async loadEnd(endedAt?: string): Promise<void> {
    await this.#once(async () => {
      const end = await this.#ask({});
      if (!end || endedAt === undefined) return end;
      this.#end = await offsetAfter(endedAt, end.size, (from) => this.#ask({ from }));
      return this.#end === undefined ? end : this.#ask({ before: this.#end });
    });
  }

  /** The beginning of the file, or of the attempt after this time. Its offset. */
  async loadStart(after?: string): Promise<number> {
    let start = 0;
    await this.#once(async () => {
      const { size } = this.part.value ?? { size: 0 };
      if (after !== undefined) start = (await offsetAfter(after, size, (from) => this.#ask({ from }))) ?? 0;
      return this.#ask({ from: start });
    });
    return start;
  }

  /** What is not loaded yet, in bytes. `attempt`: only as long as it may be in there. */
  bytesBefore(attempt: number | undefined): number {
    const { from = 0, entries = [] } = this.part.value ?? {};
    const first = entries[0]?.line.attempt;
    return attempt === undefined || first === undefined || first === attempt ? from : 0;
  }

  bytesAfter(attempt: number | undefined): number {
    const { to = 0, size = 0 } = this.part.value ?? {};
    return Math.max(0, (attempt === undefined ? size : (this.#end ?? size)) - to);
  }

  async jumpTo(from: number): Promise<void> {
    await this.#once(() => this.#ask({ from }));
  }

  async loadBefore(): Promise<void> {
    const known = this.part.value;
    if (!known || known.from === 0) return;
    await this.#once(async () => {
      const more = await this.#ask({ before: known.from });
      return more && trimEnd({ ...more, to: known.to, entries: [...more.entries, ...known.entries] });
    });
  }

  async loadAfter(): Promise<void> {
    const known = this.part.value;
    if (!known) return;
    await this.#once(async () => {
      const more = await this.#ask({ from: known.to });
      if (!more || more.entries.length === 0) return more && { ...known, size: more.size };
      return trimStart({ ...more, from: known.from, entries: [...known.entries, ...more.entries] });
    });
  }

  async #once(load: () => Promise<LoadedPart | undefined>): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const next = await load();
    this.#isBusy = false;
    if (next) this.part.value = next;
  }

  async #ask(range: { from?: number; before?: number }): Promise<TranscriptAnswer | undefined> {
    const path = apiPath('transcript', { ...this.#name, ...range });
    const reply = await ask<TranscriptAnswer>(path, this.#abort.signal);
    if (reply === undefined) return undefined;
    this.failure.value = 'failure' in reply ? reply.failure : undefined;
    return 'value' in reply ? reply.value : undefined;
  }
}

/** An answer has about 256 kB. */
const NEAR_BYTES = 200_000;

/**
 * The offset of the first entry after a time, by halving the file: entries are in the order of time. Undefined if there
 * is none, or the file can't be read.
 */
export async function offsetAfter(
  time: string,
  size: number,
  read: (from: number) => Promise<LoadedPart | undefined>,
): Promise<number | undefined> {
  const firstAfter = (part: LoadedPart) => part.entries.find(({ line }) => line.at > time)?.offset;
  // Entries before `low` are not after the time, and those from `high` on are.
  let [low, high] = [0, size];
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2);
    const part = await read(middle);
    if (!part) return undefined;
    const found = firstAfter(part);
    if (part.entries.length === 0 || found === part.entries[0]?.offset) high = middle;
    else if (found === undefined) low = part.to;
    else return found;
  }
  const part = await read(low);
  return part && firstAfter(part);
}

function trimEnd(part: LoadedPart): LoadedPart {
  const entries = part.entries.filter(({ offset }) => offset - part.from <= MOST_BYTES);
  const dropped = part.entries[entries.length];
  return { ...part, entries, to: dropped?.offset ?? part.to };
}

function trimStart(part: LoadedPart): LoadedPart {
  const entries = part.entries.filter(({ offset }) => part.to - offset <= MOST_BYTES);
  return { ...part, entries, from: entries[0]?.offset ?? part.from };
}
