/** Calls at once, then at most once in each period for each key; the last call of a burst is never lost. */
export class Throttle {
  readonly #periodMs: number;
  readonly #action: (key: string) => void;
  /** Keys in their period; true: it was called again meanwhile. */
  readonly #resting = new Map<string, boolean>();

  constructor(periodMs: number, action: (key: string) => void) {
    this.#periodMs = periodMs;
    this.#action = action;
  }

  call(key: string): void {
    if (this.#resting.has(key)) {
      this.#resting.set(key, true);
      return;
    }
    this.#resting.set(key, false);
    this.#action(key);
    setTimeout(() => {
      const again = this.#resting.get(key);
      this.#resting.delete(key);
      if (again) this.call(key);
    }, this.#periodMs);
  }
}
