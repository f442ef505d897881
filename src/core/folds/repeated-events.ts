import type { NightshiftEvent } from '../model/events.ts';

/**
 * Finds events that were read before. Somebody may have put lines, or two copies of a journal, into one file: nothing is
 * spent twice by that. The events of a run are numbered in the order in which they are written.
 */
export class RepeatedEvents {
  /** By run: the number of the latest event. */
  readonly #latest = new Map<string, number>();

  has({ run, seq }: NightshiftEvent): boolean {
    // A line may hold anything.
    if (typeof run !== 'string' || typeof seq !== 'number') return false;
    if (seq <= (this.#latest.get(run) ?? Number.NEGATIVE_INFINITY)) return true;
    this.#latest.set(run, seq);
    return false;
  }
}
