/**
 * Work that many ask for at once: who asks while it is under way shares the next time, which begins after they asked.
 */
export class Together {
  readonly #work: () => Promise<void>;
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Resolves when it was done once, from beginning to end, after this call. */
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
