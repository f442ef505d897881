import type { JobInsert } from 'pg-boss';
import type { Bundle } from '../bundle.ts';
import type { BossDatabase, FleetDatabase, RetryOptions } from '../database.ts';
import { untilAnswered } from '../database.ts';
import { queueName } from '../needs.ts';
import { type Envelope, PROTOCOL, readEnvelope, readSentOrder, type SentOrder } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { bySize } from './by-size.ts';
import { endLeases } from './end-leases.ts';
import type { Epoch } from './epoch.ts';
import { GatheredCalls } from './gathered-calls.ts';
import type { OrderEnd } from './order-end.ts';
import { keepBundle } from './order-files.ts';
import { idsByQueue, requireQueues } from './queues.ts';
import { Routes } from './routes.ts';
import type { FoundOrder, NamedOrder, Sending, StoredOrder } from './stored-order.ts';

/** A worker registers an order right after it took it. */
const REGISTERED_SECONDS = 2;
/** A transaction with more would delay the heartbeat of the coordinator, which waits its turn. */
const MOST_BYTES_TOGETHER = 8 * 1024 * 1024;
/** A slow network must carry a statement within 10 seconds. */
const MOST_BYTES_AT_ONCE = 1024 * 1024;

interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly state: 'created' | 'retry' | 'active' | 'completed' | 'cancelled' | 'failed';
  readonly data?: unknown;
  readonly output: unknown;
}

const nothing = async () => {};
const sizeOf = ({ envelope }: Sending) => Buffer.byteLength(envelope.body);

/** The orders of one shift in the database. Each statement may be repeated, and is, until it is answered. */
export class OrderQueue {
  readonly #database: FleetDatabase;
  readonly #epoch: Epoch;
  readonly #shift: string;
  readonly #leaseSeconds: number;
  readonly #retry: RetryOptions;
  readonly routes: Routes;
  readonly #sendings = new GatheredCalls<Sending>(async (sendings) => {
    for (const group of bySize(sendings, MOST_BYTES_TOGETHER, sizeOf)) await this.#send(group);
  });
  readonly #removals = new GatheredCalls<NamedOrder>((orders) => this.#remove(orders));
  readonly #cancellations = new GatheredCalls<NamedOrder>((orders) => this.#cancel(orders));
  constructor(
    database: FleetDatabase,
    epoch: Epoch,
    { shift, leaseSeconds, ...retry }: RetryOptions & { shift: string; leaseSeconds: number },
  ) {
    this.#database = database;
    this.#epoch = epoch;
    this.#shift = shift;
    this.#leaseSeconds = leaseSeconds;
    this.#retry = retry;
    this.routes = new Routes(database, epoch, shift);
  }

  /** The queue for orders with these needs. */
  nameFor(needs: readonly string[]): string {
    return queueName(this.#shift, needs);
  }

  /** Resolves when the order can be taken. `bundle`: the files that it names. */
  async send({ id, needs, work }: SentOrder, envelope: Envelope, bundle: Bundle | undefined): Promise<void> {
    const priority = work.order.role === 'dev' ? 0 : 1;
    await this.#sendings.add([{ id, queue: this.nameFor(needs), needs, envelope, priority, bundle }]);
  }

  async #send(sendings: readonly Sending[]): Promise<void> {
    const queues = new Map(sendings.map(({ queue, needs }) => [queue, needs]));
    const bundles = new Map(sendings.flatMap(({ bundle }) => (bundle ? [[bundle.hash, bundle] as const] : [])));
    await this.#untilAnswered(async () => {
      for (const [queue, needs] of queues) await this.routes.open(queue, needs);
      await this.#epoch.write(this.#database, async (own, db) => {
        // With each order: the database may be an older one, and workers find orders by their routes.
        for (const [queue, needs] of queues) {
          await own.query(
            `insert into ${SCHEMA}.route (queue, shift, needs) values ($1, $2, $3) on conflict (queue) do nothing`,
            [queue, this.#shift, needs],
          );
        }
        for (const bundle of bundles.values()) await keepBundle(own, this.#shift, bundle);
        await requireQueues(own, [...queues.keys()]);
        for (const queue of queues.keys()) {
          const own = sendings.filter((sending) => sending.queue === queue);
          for (const group of bySize(own, MOST_BYTES_AT_ONCE, sizeOf)) {
            const jobs = group.map((sending) => this.#jobOf(sending));
            // Leaves out what is there already: an earlier answer was lost.
            await this.#database.boss.insert(queue, jobs, { db });
          }
        }
      });
    });
    await this.#tell('ready', [...queues.keys()]);
  }

  #jobOf({ id, priority, envelope }: Sending): JobInsert<Envelope> {
    return { id, priority, data: envelope, heartbeatSeconds: this.#leaseSeconds };
  }

  /**
   * No worker can take them any more; one that has one stops its agent. Gathered like removals: a stop cancels hundreds
   * at once, and waits for them only for a while.
   */
  async cancel(orders: readonly NamedOrder[]): Promise<void> {
    if (orders.length > 0) await this.#cancellations.add(orders);
  }

  async #cancel(orders: readonly NamedOrder[]): Promise<void> {
    await this.#change(orders, (queue, ids, db) => this.#database.boss.cancel(queue, ids, { db }));
    await this.#tell(
      'cancel',
      orders.map(({ id }) => id),
    );
  }

  /** Ends those of these orders that no worker has. pg-boss would end all of them. */
  async withdrawUntaken(ids: readonly string[]): Promise<void> {
    await this.#epoch.write(this.#database, (own) =>
      own.query(
        `update ${SCHEMA}.job set state = 'cancelled', completed_on = now()
         where name = any($1) and id = any($2) and state = 'created'`,
        [this.routes.queues, ids],
      ),
    );
  }

  /**
   * The end of these orders is in the table. Orders that gather while others are removed are removed together: many slots
   * may become free at once, and each is refilled only after that.
   */
  async forget(orders: readonly NamedOrder[]): Promise<void> {
    if (orders.length > 0) await this.#removals.add(orders);
  }

  async #remove(orders: readonly NamedOrder[]): Promise<void> {
    await this.#change(orders, (queue, ids, db) => this.#database.boss.deleteJob(queue, ids, { db }));
  }

  /** One transaction, with one command for each queue. */
  async #change(
    orders: readonly NamedOrder[],
    act: (queue: string, ids: string[], db: BossDatabase) => Promise<unknown>,
  ) {
    await this.#untilAnswered(() =>
      this.#epoch.write(this.#database, async (_, db) => {
        for (const [queue, ids] of idsByQueue(orders)) {
          // A database that was dropped has neither the queue nor the orders.
          if (this.routes.has(queue)) await act(queue, ids, db);
        }
      }),
    );
  }

  /** All orders of this shift. */
  async all(): Promise<StoredOrder[]> {
    const { rows } = await this.#database.query<StoredOrder>(
      `select name as queue, id, state = 'created' as "isWaiting" from ${SCHEMA}.job where name = any($1)`,
      [this.routes.queues],
    );
    return rows;
  }

  /** Those of these orders that have ended. `gone` needs a second look. */
  async ended(ids: readonly string[]): Promise<Map<string, OrderEnd>> {
    const { rows } = await this.#database.query<JobRow & { epoch: string | null }>(
      `select id, name, state, output, (select epoch from ${SCHEMA}.shift where key = $3) as epoch
       from ${SCHEMA}.job where name = any($1) and id = any($2)`,
      [this.routes.queues, ids, this.#shift],
    );
    // Another coordinator has taken over, and these ends are for it. This write throws.
    if (rows.some(({ epoch }) => Number(epoch) > this.#epoch.number)) await this.#epoch.write(this.#database, nothing);
    const found = new Map(rows.map((row) => [row.id, row]));
    // A worker renews all its leases together, so they end together.
    const together = rows.filter(({ state }) => state === 'failed').length;
    const ends = ids.flatMap((id): [string, OrderEnd][] => {
      const row = found.get(id);
      if (!row) return [[id, { kind: 'gone' }]];
      if (row.state === 'completed') return [[id, { kind: 'reported', report: row.output }]];
      if (row.state === 'failed') return [[id, { kind: 'lost', together }]];
      return row.state === 'cancelled' ? [[id, { kind: 'cancelled' }]] : [];
    });
    return new Map(ends);
  }

  /** Which of these orders a worker still has, or may have: one that was just taken may not be registered yet. */
  async onWorkers(ids: readonly string[]): Promise<Set<string>> {
    const { rows } = await this.#database.query<{ id: string }>(
      `select held ->> 'id' as id from ${SCHEMA}.worker, jsonb_array_elements(orders) as held
       where held ->> 'id' = any($1) and seen > now() - make_interval(secs => greatest(lease_seconds, $2))
       union select id::text from ${SCHEMA}.job
       where name = any($3) and id = any($1::text[]::uuid[]) and started_on > now() - make_interval(secs => $4)`,
      [ids, this.#leaseSeconds, this.routes.queues, REGISTERED_SECONDS],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /** What an earlier run has sent. What can't be read, or has no valid signature, is removed. */
  async surviving(verify: (envelope: Envelope) => boolean): Promise<FoundOrder[]> {
    await this.#untilAnswered(() => this.routes.read());
    const { rows } = await this.#untilAnswered(() =>
      this.#database.query<JobRow>(
        // After a failover, an item may have an older order, too.
        `select id, name, state, data, output from ${SCHEMA}.job where name = any($1) order by created_on desc`,
        [this.routes.queues],
      ),
    );
    const unusable: { queue: string; id: string }[] = [];
    const found = rows.flatMap((row): FoundOrder[] => {
      const envelope = readEnvelope(row.data);
      const sent = envelope && verify(envelope) ? readSentOrder(envelope.body) : undefined;
      if (sent?.id === row.id && sent.protocol === PROTOCOL && row.state !== 'failed' && row.state !== 'cancelled')
        return [{ sent, queue: row.name }];
      unusable.push({ queue: row.name, id: row.id });
      return [];
    });
    await this.forget(unusable);
    return found;
  }

  endLeases(): Promise<void> {
    return endLeases(this.#database, this.#epoch, this.routes.queues);
  }

  #untilAnswered<T>(act: () => Promise<T>): Promise<T> {
    return untilAnswered(act, this.#retry);
  }

  /** Only saves time: a worker polls, too. */
  async #tell(kind: 'ready' | 'cancel', subjects: readonly string[]): Promise<void> {
    await this.#database.notify(kind, ...subjects).catch(() => {});
  }
}
