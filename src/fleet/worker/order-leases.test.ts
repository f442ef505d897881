import { setImmediate as later } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import { FleetDatabase } from '../database.ts';
import type { SentOrder } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { OrderLeases } from './order-leases.ts';
import { OrderRun, type OrderRunOptions } from './order-run.ts';

describeServer('the leases of a worker', (server) => {
  let database: FleetDatabase;

  beforeAll(async () => {
    database = new FleetDatabase({ url: server.url, isInsecure: false });
    await database.install();
    for (const queue of ['one', 'other']) await database.boss.createQueue(queue, { retryLimit: 0 });
  });

  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
  });

  async function fetch(queue = 'one'): Promise<Pick<OrderRunOptions, 'takenOn'> & { id: string }> {
    const [job] = await database.boss.fetch(queue, { includeMetadata: true });
    return { id: job!.id, takenOn: job!.startedOn };
  }

  interface Taking {
    readonly queue?: string;
    readonly key?: string;
    readonly perform?: () => Promise<object>;
  }

  /** An order that a worker has just taken. */
  async function take({ queue = 'one', key = 'k', ...more }: Taking = {}): Promise<OrderRun> {
    await database.boss.send(queue, {}, { heartbeatSeconds: 10 });
    const { id, takenOn } = await fetch(queue);
    const work = { kind: 'item', order: { task: 'work', role: 'dev', key } };
    const sent = { id, shift: { key: 's', name: 's' }, work } as unknown as SentOrder;
    const retry = { signal: new AbortController().signal };
    const options = { database, queue, worker: 'w', takenOn, retry, noteOutcome: async () => {}, ...more };
    return new OrderRun(sent, options as unknown as OrderRunOptions);
  }

  /** Carried out until the test ends it. */
  function carryOut(leases: OrderLeases, order: OrderRun) {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const state = { isBegun: false };
    const run = leases.start(order, () => {
      state.isBegun = true;
      return ended;
    });
    return {
      state,
      end: () => {
        end();
        return run;
      },
    };
  }

  /** Resolves when a statement waits for a lock. */
  async function lockWaited(): Promise<void> {
    const waiting = () => server.query(`select from pg_stat_activity where wait_event_type = 'Lock'`);
    while ((await waiting()).length === 0);
  }

  const heartbeats = async () => {
    const { rows } = await database.query<{ id: string }>(
      `select id from ${SCHEMA}.job where heartbeat_on > now() - interval '5s'`,
    );
    return rows.map(({ id }) => id);
  };
  const silence = () => database.query(`update ${SCHEMA}.job set heartbeat_on = now() - interval '20s'`);
  const update = (id: string, what: string) => database.query(`update ${SCHEMA}.job set ${what} where id = $1`, [id]);
  /** A failover to a database that has not heard of the fetch. */
  const forget = (id: string) => update(id, `state = 'created', started_on = null, heartbeat_on = null`);

  test('are renewed together, except for what was ended or removed with its queue', async () => {
    const leases = new OrderLeases(database);
    const [kept, cancelled, failed, gone] = [await take(), await take(), await take(), await take({ queue: 'other' })];
    for (const order of [kept, cancelled, failed, gone]) carryOut(leases, order);
    await database.boss.cancel('one', cancelled.id);
    await update(failed.id, "state = 'failed'");
    await database.boss.deleteQueue('other');
    await silence();
    await leases.keepLeases();
    expect([kept, cancelled, failed, gone].map(({ isLost }) => isLost)).toEqual([false, true, true, true]);
    expect(await heartbeats()).toEqual([kept.id]);
  });

  test('after a freeze, one that is being ended at that moment is not taken for a lease', async () => {
    const leases = new OrderLeases(database);
    const order = await take();
    carryOut(leases, order);
    const { confirming } = await database.transaction(async (own) => {
      await own.query(`update ${SCHEMA}.job set state = 'failed' where id = $1`, [order.id]);
      const confirming = leases.keepLeases({ mayWait: true });
      await lockWaited();
      // In an object: a promise would be waited for.
      return { confirming };
    });
    await confirming;
    expect(order.isLost).toBe(true);
  });

  test('a row that another statement has locked is renewed with the next heartbeat, and holds up no other', async () => {
    const leases = new OrderLeases(database);
    const [locked, free] = [await take(), await take()];
    for (const order of [locked, free]) carryOut(leases, order);
    await silence();
    await database.transaction(async (own) => {
      await own.query(`select from ${SCHEMA}.job where id = $1 for update`, [locked.id]);
      await leases.keepLeases();
      expect(await heartbeats()).toEqual([free.id]);
    });
    await leases.keepLeases();
    expect((await heartbeats()).sort()).toEqual([free.id, locked.id].sort());
    expect(locked.isLost).toBe(false);
  });

  test('after a failover that forgot who has an order, whoever fetches it next has it', async () => {
    const leases = new OrderLeases(database);
    const [own, stolen] = [await take(), await take()];
    for (const order of [own, stolen]) carryOut(leases, order);
    await forget(own.id);
    await leases.keepLeases();
    expect(own.isLost).toBe(false);
    const again = await fetch();
    expect(again.id).toBe(own.id);
    expect(leases.continues(again.id, again.takenOn)).toBe(true);
    await forget(stolen.id);
    const byAnother = await fetch();
    expect(byAnother.id).toBe(stolen.id);
    await silence();
    await leases.keepLeases();
    expect([own.isLost, stolen.isLost]).toEqual([false, true]);
    expect(await heartbeats()).toEqual([own.id]);
    expect(leases.continues(stolen.id, byAnother.takenOn)).toBe(false);
  });

  test('after a failover that forgot who has an order, its end counts all the same, and it is not taken again', async () => {
    const outcome = { role: 'dev', to: 'qa', attempts: 1 };
    const order = await take({ perform: async () => outcome });
    await forget(order.id);
    expect(await order.run()).toMatchObject({ handover: 'accepted' });
    expect(await database.boss.fetch('one')).toEqual([]);
  });

  test('an order begins after an earlier one for the same session has ended', async () => {
    const leases = new OrderLeases(database);
    const before = carryOut(leases, await take());
    const same = carryOut(leases, await take());
    const other = carryOut(leases, await take({ key: 'of another item' }));
    await later();
    expect([before, same, other].map(({ state }) => state.isBegun)).toEqual([true, false, true]);
    expect(leases.size).toBe(3);
    await before.end();
    await later();
    expect(same.state.isBegun).toBe(true);
    await Promise.all([same.end(), other.end()]);
    expect(leases.size).toBe(0);
  });
});
