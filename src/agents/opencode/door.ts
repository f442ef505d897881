import { setTimeout as delay } from 'node:timers/promises';

/** The first one is through when the server has loaded what it needs; for one that says nothing nobody waits longer. */
const MOST_MS = 3000;

/**
 * The server does one thing at a time. Those who begin at once would all be served last, and stay in each other's way with
 * each of their steps: so they begin one after the other.
 */
export class Door {
  readonly #mostMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(mostMs = MOST_MS) {
    this.#mostMs = mostMs;
  }

  /** Resolves when nobody is before. `through`: from then on the next one may come; who is through already need not wait. */
  async enter(through: Promise<unknown>): Promise<void> {
    const before = this.#last;
    this.#last = before.then(() => Promise.race([through, delay(this.#mostMs, undefined, { ref: false })]));
    await Promise.race([before, through]);
  }
}
