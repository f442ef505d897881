import type { FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { Epoch } from './epoch.ts';
import type { StoredOrder } from './stored-order.ts';

/** pg-boss allows no more. */
const LONGEST_ORDER_SECONDS = 24 * 3600;
/** A queue that is empty, and was not used for so long, is removed. To send an order takes much less. */
const UNUSED_MS = 10 * 60_000;

interface Route {
  readonly needs: readonly string[];
  /** When an order was last sent this way. */
  usedAt: number;
}

/** The queues of one shift that are known to be there. Orders with the same needs wait in the same one. */
export class Routes {
  readonly #database: FleetDatabase;
  readonly #epoch: Epoch;
  /** The key of the shift. */
  readonly #shift: string;
  readonly #routes = new Map<string, Route>();
  /** Opening a queue waits for this: it may be the queue that is being closed. */
  #closing: Promise<void> = Promise.resolve();

  constructor(database: FleetDatabase, epoch: Epoch, shift: string) {
    this.#database = database;
    this.#epoch = epoch;
    this.#shift = shift;
  }

  get queues(): readonly string[] {
    return [...this.#routes.keys()];
  }

  has(queue: string): boolean {
    return this.#routes.has(queue);
  }

  /** What the orders of a queue need. */
  needsIn(queue: string): readonly string[] {
    return this.#routes.get(queue)?.needs ?? [];
  }

  /** Reads the queues that exist: at the start, and after the database was repaired. */
  async read(): Promise<void> {
    const before = this.queues;
    const { rows } = await this.#database.query<{ queue: string; needs: string[] }>(
      `select queue, needs from ${SCHEMA}.route where shift = $1 and queue in (select name from ${SCHEMA}.queue)`,
      [this.#shift],
    );
    // A route that was opened meanwhile stays.
    for (const queue of before) this.#routes.delete(queue);
    for (const { queue, needs } of rows) this.#routes.set(queue, { needs, usedAt: performance.now() });
  }

  async open(queue: string, needs: readonly string[]): Promise<void> {
    await this.#closing;
    const known = this.#routes.get(queue);
    if (known) {
      known.usedAt = performance.now();
      return;
    }
    await this.#database.boss.createQueue(queue, {
      // One sending is one job: only its first end counts.
      retryLimit: 0,
      expireInSeconds: LONGEST_ORDER_SECONDS,
    });
    this.#routes.set(queue, { needs, usedAt: performance.now() });
  }

  /** Removes queues that were empty for long: each change of what tasks need makes others. */
  async closeUnused(orders: readonly StoredOrder[]): Promise<void> {
    const since = performance.now() - UNUSED_MS;
    for (const [queue, { usedAt }] of this.#routes) {
      if (usedAt >= since || orders.some((order) => order.queue === queue)) continue;
      const closing = this.#close(queue);
      this.#closing = closing.catch(() => {});
      await closing;
    }
  }

  /** Removes all of them, and what an interrupted removal has left. */
  async close(): Promise<void> {
    for (const queue of this.queues) await this.#close(queue);
    await this.#epoch.write(this.#database, (own) =>
      own.query(`delete from ${SCHEMA}.route where shift = $1 and queue not in (select name from ${SCHEMA}.queue)`, [
        this.#shift,
      ]),
    );
  }

  /** The queue before its route: a later run finds queues by their routes. */
  async #close(queue: string): Promise<void> {
    this.#routes.delete(queue);
    await this.#epoch.write(this.#database, async () => {});
    await this.#database.boss.deleteQueue(queue);
    await this.#epoch.write(this.#database, (own) =>
      own.query(`delete from ${SCHEMA}.route where queue = $1`, [queue]),
    );
  }
}
