/**
 * Merges concurrent requests for the same work: requests made while it runs share the next run of it, which starts
 * after they were made.
 */
export class Together {
  readonly #work: () => Promise<void>;
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when the work was done once, from start to end, after this call. */
  done(): Promise<void> {
    this.#next ??= this.#current.then(() => {
      this.#next = undefined;
      const now = this.#work();
      this.#current = now.catch(() => {});
      return now;
    });
    return this.#next;
  }
}
