import type { NightshiftEvent } from '../model/events.ts';

/**
 * Finds events that were read before: lines or whole copies of a journal may have been merged into one file, and
 * nothing is spent twice because of that. Events of a run are numbered in the order in which they are written.
 */
export class RepeatedEvents {
  /** By run: the number of the latest event. */
  readonly #latest = new Map<string, number>();

  has({ run, seq }: NightshiftEvent): boolean {
    // A line may contain anything. What people do between runs has no number.
    if (typeof run !== 'string' || run === '' || typeof seq !== 'number') return false;
    if (seq <= (this.#latest.get(run) ?? Number.NEGATIVE_INFINITY)) return true;
    this.#latest.set(run, seq);
    return false;
  }
}
