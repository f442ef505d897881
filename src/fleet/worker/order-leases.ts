import { affectedBy, type FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { OrderRun } from './order-run.ts';

/** The orders that a worker has taken and not yet reported. */
export class OrderLeases {
  readonly #database: FleetDatabase;
  readonly #orders = new Map<string, OrderRun>();
  /** Cancellations since the last fetch began: the notice can arrive before the order does. */
  readonly #cancelled = new Set<string>();

  constructor(database: FleetDatabase) {
    this.#database = database;
  }

  get size(): number {
    return this.#orders.size;
  }

  get all(): OrderRun[] {
    return [...this.#orders.values()];
  }

  /** An order keeps the lease that it was sent with. */
  get shortestLease(): number {
    return Math.min(...this.all.map(({ leaseSeconds }) => leaseSeconds));
  }

  add(order: OrderRun): void {
    this.#orders.set(order.id, order);
    if (this.#cancelled.has(order.id)) order.cancel();
  }

  remove({ id }: OrderRun): void {
    this.#orders.delete(id);
  }

  /** Before a question for orders. */
  forgetCancellations(): void {
    this.#cancelled.clear();
  }

  /** Ends the agents of those that this worker does not have any more. */
  async keepLeases(): Promise<void> {
    const doubtful: string[] = [];
    for (const queue of new Set(this.all.map((order) => order.queue))) {
      const ids = this.all.filter((order) => order.queue === queue).map(({ id }) => id);
      const kept = await affectedBy(this.#database.boss.touch(queue, ids));
      if (kept < ids.length) doubtful.push(...ids);
    }
    for (const id of doubtful) await this.look(id);
  }

  /** Ends the agent of an order that was cancelled, or given to another worker. */
  async look(id: string): Promise<void> {
    const order = this.#orders.get(id);
    if (!order) return void this.#cancelled.add(id);
    const { rows } = await this.#database.query<{ state: string }>(
      `select state from ${SCHEMA}.job where name = $1 and id = $2`,
      [order.queue, id],
    );
    const state = rows[0]?.state;
    if (state === 'cancelled') order.cancel();
    else if (state !== 'active' && state !== 'completed') order.lose();
  }
}
