import { delay } from '../database.ts';
import type { OrderQueue } from './order-queue.ts';

/** After a cancellation: how long to wait until the worker has ended the agent. */
const ENDING_MS = 8000;

/** Orders that were cancelled, until no worker has them. One query serves all: a stop cancels hundreds at once. */
export class EndingOrders {
  readonly #queue: Pick<OrderQueue, 'onWorkers'>;
  readonly #closing: AbortSignal;
  readonly #ending = new Map<string, { readonly since: number; readonly resolve: () => void }>();

  constructor(queue: Pick<OrderQueue, 'onWorkers'>, closing: AbortSignal) {
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
      if (this.#closing.aborted) return this.#releaseAll();
      const ids = [...this.#ending.keys()];
      const running = await this.#queue.onWorkers(ids).catch(() => new Set<string>());
      for (const id of ids) this.#release(id, running.has(id));
      if (this.#ending.size > 0) await delay(100, this.#closing);
    }
  }

  #releaseAll(): void {
    for (const { resolve } of this.#ending.values()) resolve();
    this.#ending.clear();
  }

  #release(id: string, isRunning: boolean): void {
    const { since, resolve } = this.#ending.get(id)!;
    if (isRunning && performance.now() - since < ENDING_MS) return;
    this.#ending.delete(id);
    resolve();
  }
}
