import type { Emit } from '../core/model/events.ts';

/** Counts what a run delivers: `max-deliveries` caps a night. */
export class Deliveries {
  readonly #emit: Emit;
  #taken = 0;
  #isTold = false;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Whether one more may go out. If not, the row is held; the first time, a warning says so. */
  take(most: number | undefined): boolean {
    if (most === undefined || this.#taken < most) {
      this.#taken++;
      return true;
    }
    if (!this.#isTold) {
      const message = `max-deliveries is reached (${most}): further results wait for \`nightshift deliver\``;
      this.#emit({ type: 'run:warning', message });
    }
    this.#isTold = true;
    return false;
  }

  /** It did not go out. */
  giveBack(): void {
    this.#taken--;
  }
}
