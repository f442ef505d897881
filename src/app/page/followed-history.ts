import { History } from '../../core/folds/history.ts';
import type { JournalPlace } from '../../core/page/stream-position.ts';
import { BEGINNING, readOn } from '../../store/folder/journal/journal-place.ts';
import { journalEnd, parseLine } from '../../store/folder/journal/journal-reader.ts';
import { Ledger } from '../../store/folder/journal/ledger.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { World } from '../world.ts';

/** It is read in a tenth of a second or so. Decided by size, not by time, so that a busy machine answers the same. */
const SHORT_BYTES = 8 * 1024 * 1024;

/**
 * The history of a shift that is read again and again: each time only what is new in the journal. A long journal is
 * read in the background, so that the page opens without it.
 */
export class FollowedHistory {
  readonly #env: World['env'];
  #history = new History();
  #place: JournalPlace | undefined;
  #isNew = true;
  #reading: Promise<void> | undefined;

  constructor({ env }: Pick<World, 'env'>) {
    this.#env = env;
  }

  /** Not all of the journal was read yet. */
  get isPartial(): boolean {
    return this.#reading !== undefined;
  }

  /** Resolves when it is not partial any more, or can't be read. */
  async whole(): Promise<void> {
    await this.#reading?.catch(() => {});
  }

  /** The same object as last time, unless the journal was replaced. */
  async read(paths: ShiftPaths): Promise<History> {
    this.#reading ??= this.#readAll(paths).finally(() => {
      this.#reading = undefined;
    });
    if (bytesAfter(paths.journal, this.#place) <= SHORT_BYTES) await this.#reading;
    else this.#reading.catch(() => {});
    return this.#history;
  }

  async #readAll(paths: ShiftPaths): Promise<void> {
    while (!(await this.#readOn(paths))) this.#place = undefined;
  }

  /** False if what was read is not the journal any more. */
  async #readOn(paths: ShiftPaths): Promise<boolean> {
    // Before the journal: what a run has added to both by then is not missing in the journal.
    const spent = this.#place === undefined ? new Ledger(paths.folder, this.#env).read() : undefined;
    if (this.#place === undefined) {
      this.#history = new History();
      this.#isNew = true;
      this.#place = startOfCurrent(paths.journal);
    }
    for (;;) {
      const step = await readOn(paths.journal, this.#place);
      if (!step) return false;
      for (const { bytes, start } of step.lines) {
        // The checkpoint of a file that continues this one has nothing new, except for the events in it.
        this.#history.read(parseLine(bytes), start === 0 && this.#isNew);
        this.#isNew = false;
      }
      this.#place = step.place;
      if (step.isAtEnd) break;
    }
    if (spent) this.#history.atLeast(spent);
    return true;
  }
}

/** How much of the journal is after a place. */
function bytesAfter(journal: string, place: JournalPlace | undefined): number {
  const end = journalEnd(journal);
  return (end?.offset ?? 0) - (place?.file === end?.id ? (place?.offset ?? 0) : 0);
}

/** Each file begins with everything known before. */
function startOfCurrent(journal: string): JournalPlace {
  return { ...BEGINNING, file: journalEnd(journal)?.id ?? '' };
}
