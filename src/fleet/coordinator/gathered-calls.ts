/** Batches calls: all calls that arrive while one is running become the next one. */
export class GatheredCalls<T> {
  readonly #act: (all: readonly T[]) => Promise<void>;
  #gathered: T[] = [];
  #next: Promise<void> | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(act: (all: readonly T[]) => Promise<void>) {
    this.#act = act;
  }

  /** Resolves or rejects with the call that has these. */
  add(each: readonly T[]): Promise<void> {
    this.#gathered.push(...each);
    this.#next ??= this.#last.then(() => {
      this.#next = undefined;
      const call = this.#act(this.#gathered.splice(0));
      this.#last = call.catch(() => {});
      return call;
    });
    return this.#next;
  }
}
