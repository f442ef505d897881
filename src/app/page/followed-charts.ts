import { Charts } from '../../core/folds/charts.ts';
import { isReadable } from '../../core/model/event-shape.ts';
import type { JournalPlace } from '../../core/page/stream-position.ts';
import { BEGINNING, readOn } from '../../store/folder/journal/journal-place.ts';
import { parseLine } from '../../store/folder/journal/journal-reader.ts';
import { within } from './within.ts';

/** A short journal is in the first answer. */
const WAIT_MS = 250;

/** The charts of a shift: all its journal, read in the background, and then only what is new. */
export class FollowedCharts {
  readonly #journal: string;
  #charts = new Charts();
  #place: JournalPlace = BEGINNING;
  #reading: Promise<void> | undefined;

  constructor(journal: string) {
    this.#journal = journal;
  }

  /** What is known by now. `signal` ends what is read in the background. */
  async read(signal: AbortSignal): Promise<{ readonly charts: Charts; readonly isPartial: boolean }> {
    this.#reading ??= this.#readAll(signal).finally(() => {
      this.#reading = undefined;
    });
    await within(this.#reading, WAIT_MS);
    return { charts: this.#charts, isPartial: this.#reading !== undefined };
  }

  async #readAll(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const step = await readOn(this.#journal, this.#place);
      // The journal was replaced.
      if (!step) this.#charts = new Charts();
      for (const { bytes } of step?.lines ?? []) {
        const event = parseLine(bytes);
        if (isReadable(event)) this.#charts.add(event);
      }
      this.#place = step?.place ?? BEGINNING;
      if (step?.isAtEnd) return;
    }
  }
}
