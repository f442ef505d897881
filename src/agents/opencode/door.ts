import { setTimeout as delay } from 'node:timers/promises';

/**
 * The first session is through when the server has loaded what it needs. If it stays silent, the others wait no
 * longer than this.
 */
const MOST_MS = 3000;

/**
 * The server does one thing at a time. Sessions that begin at once would all slow each other down, so they begin one
 * after the other.
 */
export class Door {
  readonly #mostMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(mostMs = MOST_MS) {
    this.#mostMs = mostMs;
  }

  /** Resolves when it is this session's turn. `through`: when the next one may come. */
  async enter(through: Promise<unknown>): Promise<void> {
    const before = this.#last;
    this.#last = before.then(() => Promise.race([through, delay(this.#mostMs, undefined, { ref: false })]));
    await Promise.race([before, through]);
  }
}
