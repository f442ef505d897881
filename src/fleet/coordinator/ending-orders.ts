import { pause } from '../database.ts';
import type { OrderQueue } from './order-queue.ts';

/** After a cancellation: how long to wait until the worker has ended the agent. */
const ENDING_MS = 8000;

/** Orders that were cancelled, until no worker has them. One query serves all: a stop cancels hundreds at once. */
export class EndingOrders {
  readonly #queue: Pick<OrderQueue, 'held'>;
  readonly #closing: AbortSignal;
  readonly #ending = new Map<string, { readonly since: number; readonly resolve: () => void }>();

  constructor(queue: Pick<OrderQueue, 'held'>, closing: AbortSignal) {
    this.#queue = queue;
    this.#closing = closing;
  }

  /** Resolves when its worker has ended the agent, or after a while. */
  released(id: string): Promise<void> {
    return new Promise((resolve) => {
      this.#ending.set(id, { since: performance.now(), resolve });
      if (this.#ending.size === 1) void this.#ask();
    });
  }

  async #ask(): Promise<void> {
    while (this.#ending.size > 0) {
      const ids = [...this.#ending.keys()];
      const held = await this.#queue.held(ids).catch(() => new Set<string>());
      for (const id of ids) this.#release(id, held.has(id));
      if (this.#ending.size > 0) await pause(100, this.#closing);
    }
  }

  #release(id: string, isHeld: boolean): void {
    const { since, resolve } = this.#ending.get(id)!;
    if (isHeld && performance.now() - since < ENDING_MS) return;
    this.#ending.delete(id);
    resolve();
  }
}
