/** Rule X5: growing pauses while trouble is not the items' fault, and an end to them when nothing moves. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export class Patience {
  readonly #now: () => number;
  #troubleSince: number | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An item has ended: whatever the trouble was, it does not stop everything. */
  progress(): void {
    this.#troubleSince = undefined;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** How long to wait before the next try; undefined: it has lasted for too long. */
  pause(patienceMs: number): number | undefined {
    // From the first trouble on: the hours that an item was worked on before that are none.
    this.#troubleSince ??= this.#now();
    const left = patienceMs - (this.#now() - this.#troubleSince);
    if (left <= 0) return undefined;
    const pause = Math.min(this.#pauseMs, left);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return pause;
  }
}
