/** A remote is asked for news at most this often: 20 rows of one repository fetch once. */
const FRESH_MS = 60_000;

/** Does things at most once a minute each. Callers that come meanwhile wait for the same result. */
export class OnceAMinute {
  readonly #now: () => number;
  readonly #done = new Map<string, { readonly at: number; readonly done: Promise<void> }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What fails is tried again by the next caller. */
  async run(key: string, action: () => Promise<void>): Promise<void> {
    const known = this.#done.get(key);
    if (known && this.#now() - known.at < FRESH_MS) return known.done;
    const done = action();
    this.#done.set(key, { at: this.#now(), done });
    try {
      await done;
    } catch (error) {
      this.#done.delete(key);
      throw error;
    }
  }
}
