const LOOK_MS = 250;
/** A busy machine may delay a timer by this much. The shortest lease is much longer. */
const LONGEST_GAP_MS = 2000;

/**
 * Detects that this process was suspended: by a signal, or because its machine slept. Meanwhile its leases may have
 * expired, and other workers may have its orders.
 */
export class FreezeWatch implements Disposable {
  readonly #confirm: () => Promise<void>;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #aliveAt: number;
  #confirming: Promise<void> | undefined;

  /**
   * `confirm`: finds out which orders are lost, and ends them. Does not throw. `now`: in milliseconds, by the system's
   * clock: the clock of `performance` stands still while a machine sleeps.
   */
  constructor(confirm: () => Promise<void>, now = () => Date.now()) {
    this.#confirm = confirm;
    this.#now = now;
    this.#aliveAt = now();
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Resolves at once, or after a suspension once the orders are confirmed. */
  async confirmed(): Promise<void> {
    this.#look();
    await this.#confirming;
  }

  /** For an answer that has just arrived, to a question asked at this time: the process may have been suspended since. */
  doubtSince(askedAt: number): void {
    // The clock may be set. Then this costs one statement.
    if (Math.abs(this.#now() - askedAt) <= LONGEST_GAP_MS) return;
    const confirming = this.#confirm().finally(() => {
      if (this.#confirming === confirming) this.#confirming = undefined;
    });
    this.#confirming = confirming;
  }

  #look(): void {
    const before = this.#aliveAt;
    this.#aliveAt = this.#now();
    this.doubtSince(before);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
