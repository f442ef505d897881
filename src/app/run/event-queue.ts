/** Kept for a reader that has not begun yet. A run that is never read must not fill the memory. */
const MOST_UNREAD = 10_000;

/**
 * Passes pushed values to any number of readers, each at its own pace. The first reader also gets up to 10,000 values
 * that were pushed before it started. Nothing waits for a reader.
 */
export class EventQueue<T> implements AsyncIterable<T> {
  readonly #readers = new Set<Reader<T>>();
  #unread: T[] | undefined = [];
  #end: { readonly error?: unknown } | undefined;

  push(value: T): void {
    if (this.#unread) {
      this.#unread.push(value);
      // In chunks: to shift an array of this length for each value would be slow.
      if (this.#unread.length > 2 * MOST_UNREAD) this.#unread.splice(0, MOST_UNREAD);
    }
    for (const reader of this.#readers) reader.push(value);
  }

  /** After this, nothing is pushed. With an error, readers throw it when they have read everything. */
  close(end: { readonly error?: unknown } = {}): void {
    this.#end = end;
    for (const reader of this.#readers) reader.close(end);
    this.#readers.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    const reader = new Reader<T>(this.#unread?.slice(-MOST_UNREAD) ?? [], () => this.#readers.delete(reader));
    this.#unread = undefined;
    if (this.#end) reader.close(this.#end);
    else this.#readers.add(reader);
    return reader;
  }
}

class Reader<T> implements AsyncIterator<T> {
  #values: T[];
  #next = 0;
  #end: { readonly error?: unknown } | undefined;
  #isToldError = false;
  readonly #waiting: { resolve(result: IteratorResult<T>): void; reject(error: unknown): void }[] = [];
  readonly #leave: () => void;

  constructor(values: T[], leave: () => void) {
    this.#values = values;
    this.#leave = leave;
  }

  push(value: T): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting.resolve({ value, done: false });
    else this.#values.push(value);
  }

  close(end: { readonly error?: unknown }): void {
    this.#end = end;
    for (const { resolve, reject } of this.#waiting.splice(0)) this.#finish().then(resolve, reject);
  }

  async next(): Promise<IteratorResult<T>> {
    if (this.#next < this.#values.length) {
      const value = this.#values[this.#next++]!;
      if (this.#next === this.#values.length) {
        this.#values = [];
        this.#next = 0;
      }
      return { value, done: false };
    }
    if (this.#end) return await this.#finish();
    return await new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  async return(): Promise<IteratorResult<T>> {
    this.#leave();
    this.#values = [];
    this.#next = 0;
    this.#end = {};
    for (const { resolve } of this.#waiting.splice(0)) resolve({ value: undefined, done: true });
    return { value: undefined, done: true };
  }

  /** An error is thrown once; after that the iteration is over. */
  async #finish(): Promise<IteratorResult<T>> {
    if (this.#end && 'error' in this.#end && !this.#isToldError) {
      this.#isToldError = true;
      throw this.#end.error;
    }
    return { value: undefined, done: true };
  }
}
