import type { FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { OrderRun } from './order-run.ts';

/** Tells who has an order: after a failover, the database may have given it to another worker. */
const TAKEN_ON = "date_trunc('milliseconds', started_on)";

/** Far more than are cancelled during a fetch. */
const MOST_CANCELLED = 10_000;

/** The orders that a worker has taken and not yet reported. */
export class OrderLeases {
  readonly #database: FleetDatabase;
  readonly #runs = new Map<OrderRun, Promise<void>>();
  /** Cancellations since the last fetch began: the notice can arrive before the order does. */
  readonly #cancelled = new Set<string>();

  constructor(database: FleetDatabase) {
    this.#database = database;
  }

  get size(): number {
    return this.#runs.size;
  }

  get all(): OrderRun[] {
    return [...this.#runs.keys()];
  }

  /** An order keeps the lease that it was sent with. */
  get shortestLease(): number {
    return Math.min(...this.all.map(({ leaseSeconds }) => leaseSeconds));
  }

  /** A failover has made the database forget that this worker has the order, and it was fetched again: it continues. */
  continues(id: string, takenOn: Date): boolean {
    const order = this.#find(id);
    order?.retake(takenOn);
    return order !== undefined;
  }

  /**
   * Carries out an order after an earlier one for the same session has ended here: the processes of both look the same,
   * and the end of the earlier one ends all of them. `carryOut` does not throw.
   */
  start(order: OrderRun, carryOut: () => Promise<void>): Promise<void> {
    const earlier = this.all.filter(({ session }) => session === order.session).map((other) => this.#runs.get(other));
    if (this.#cancelled.has(order.id)) order.cancel();
    const run = Promise.all(earlier)
      .then(carryOut)
      .finally(() => this.#runs.delete(order));
    this.#runs.set(order, run);
    return run;
  }

  /** Before a question for orders. */
  forgetCancellations(): void {
    this.#cancelled.clear();
  }

  /**
   * Ends the agents of those that this worker does not have any more. `mayWait`: also for a lease that is being ended
   * at this moment. Without it, the next heartbeat renews such an order if it is still there.
   */
  async keepLeases({ mayWait = false } = {}): Promise<void> {
    const orders = this.all.filter(({ isLost }) => !isLost);
    if (orders.length === 0) return;
    const { rows } = await this.#database.query<{ id: string }>(
      `with own as (
         select name, job.id from unnest($1::text[], $2::uuid[], $3::timestamptz[]) as taken (queue, id, at)
         join ${SCHEMA}.job on name = queue and job.id = taken.id and state = 'active' and ${TAKEN_ON} = at
         for update of job${mayWait ? '' : ' skip locked'})
       update ${SCHEMA}.job set heartbeat_on = now() from own where job.name = own.name and job.id = own.id
       returning job.id`,
      [
        orders.map(({ queue }) => queue),
        orders.map(({ id }) => id),
        orders.map(({ takenOn }) => takenOn.toISOString()),
      ],
    );
    const kept = new Set(rows.map(({ id }) => id));
    for (const { id } of orders) if (!kept.has(id)) await this.look(id);
  }

  /** Ends the agent of an order that was cancelled, or given to another worker. */
  async look(id: string): Promise<void> {
    const order = this.#find(id);
    if (!order) {
      // With all slots in use, no fetch begins that could clear them.
      if (this.#cancelled.size < MOST_CANCELLED) this.#cancelled.add(id);
      return;
    }
    const { takenOn } = order;
    const { rows } = await this.#database.query<{ state: string; isOwn: boolean }>(
      `select state, ${TAKEN_ON} = $3::timestamptz as "isOwn" from ${SCHEMA}.job where name = $1 and id = $2`,
      [order.queue, id, takenOn.toISOString()],
    );
    const [{ state, isOwn } = { state: undefined, isOwn: false }] = rows;
    // It was taken again meanwhile.
    if (order.takenOn !== takenOn) return;
    if (state === 'cancelled') order.cancel();
    // `created`: a failover has made the database forget who has it. Whoever fetches it next continues or starts over.
    else if (state !== 'created' && !(isOwn && (state === 'active' || state === 'completed'))) order.lose();
  }

  #find(id: string): OrderRun | undefined {
    return this.all.find((order) => order.id === id && !order.isLost);
  }
}
