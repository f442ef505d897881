/** A remote is asked for news at most this often: 20 rows of one repository fetch once. */
const FRESH_MS = 60_000;

interface Doing {
  readonly at: number;
  readonly done: Promise<void>;
  /** Of the caller that does it. */
  readonly signal: AbortSignal;
}

/** Does things at most once a minute each. Callers that come meanwhile wait for the same result. */
export class OnceAMinute {
  readonly #now: () => number;
  readonly #done = new Map<string, Doing>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What fails is tried again by the next caller; what is stopped, by one that waits. */
  async run(key: string, signal: AbortSignal, action: () => Promise<void>): Promise<void> {
    const known = this.#done.get(key);
    if (known && this.#now() - known.at < FRESH_MS) {
      try {
        return await known.done;
      } catch (error) {
        if (signal.aborted || !known.signal.aborted) throw error;
        return this.run(key, signal, action);
      }
    }
    const done = action();
    this.#done.set(key, { at: this.#now(), done, signal });
    try {
      await done;
    } catch (error) {
      this.#done.delete(key);
      throw error;
    }
  }
}
