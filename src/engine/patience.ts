/** Rule X5: growing pauses during trouble that is not the items' fault, until there was no progress for too long. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

export class Patience {
  readonly #now: () => number;
  #troubleSince: number | undefined;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** An item has ended, so the trouble does not stop everything. */
  progress(): void {
    this.#troubleSince = undefined;
    this.#pauseMs = FIRST_PAUSE_MS;
  }

  /** How long to wait before the next try; undefined: it has taken too long. */
  pause(patienceMs: number): number | undefined {
    // Counted from the first trouble, not from the start of the item that met it.
    this.#troubleSince ??= this.#now();
    const left = patienceMs - (this.#now() - this.#troubleSince);
    if (left <= 0) return undefined;
    const pause = Math.min(this.#pauseMs, left);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return pause;
  }
}
