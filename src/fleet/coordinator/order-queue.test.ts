import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import { FleetDatabase } from '../database.ts';
import { CHANNEL, type SentOrder } from '../protocol.ts';
import { startPulse, updatePulse } from '../pulse.ts';
import { SCHEMA } from '../schema.ts';
import { Epoch } from './epoch.ts';
import { OrderQueue } from './order-queue.ts';

describeServer('the orders of a shift', (server) => {
  let database: FleetDatabase;
  const shift = { key: randomUUID(), name: 'night', host: 'here' };

  beforeAll(async () => {
    database = new FleetDatabase({ url: server.url, isInsecure: false });
    await database.install();
  });

  afterAll(async () => {
    await database?.[Symbol.asyncDispose]();
  });

  /** As each start with this lease does. */
  async function open(leaseSeconds: number): Promise<OrderQueue> {
    const epoch = new Epoch(shift, leaseSeconds);
    await startPulse(database, leaseSeconds);
    await epoch.begin(database);
    const { signal } = new AbortController();
    const onSchemaMissing = async () => {
      await database.install();
      await epoch.beginAgain(database);
      await queue.routes.read();
    };
    const queue = new OrderQueue(database, epoch, { shift: shift.key, leaseSeconds, signal, onSchemaMissing });
    await queue.routes.read();
    return queue;
  }

  async function send(queue: OrderQueue, body = ''): Promise<string> {
    const id = randomUUID();
    const sent = { id, needs: ['role:dev'], work: { kind: 'item', order: { role: 'dev' } } } as unknown as SentOrder;
    await queue.send(sent, { body, signature: '' }, undefined);
    return id;
  }

  test('each keeps the lease that it was sent with, and the grace of that lease', async () => {
    const before = await send(await open(10));
    const queue = await open(90);
    const after = await send(queue);
    await database.boss.fetch(queue.routes.queues[0]!, { batchSize: 2 });
    const lost = async () => {
      await queue.endLeases();
      return [...(await queue.ended([before, after]))].map(([id, { kind }]) => [id, kind]);
    };

    await database.query(`update ${SCHEMA}.job set heartbeat_on = now() - interval '20s'`);
    // Nobody sent a heartbeat for longer than a beat of the shorter lease.
    await database.query(`update ${SCHEMA}.pulse set at = now() - interval '5s'`);
    expect(await updatePulse(database)).toEqual(new Set([90]));
    expect(await lost()).toEqual([]);

    await database.query(`update ${SCHEMA}.pulse set grace_until = now()`);
    expect(await updatePulse(database)).toEqual(new Set([10, 90]));
    expect(await lost()).toEqual([[before, 'lost']]);
    await queue.routes.close();
  });

  test('leases end although the clock of the server was a day ahead once', async () => {
    const queue = await open(10);
    const id = await send(queue);
    await database.boss.fetch(queue.routes.queues[0]!);
    await database.query(`update ${SCHEMA}.job set heartbeat_on = now() + interval '1 day'`);
    await database.query(`update ${SCHEMA}.pulse set at = now() + interval '1 day', grace_until = now()`);
    // That it was set back is a gap, too: for the length of a lease, nothing is lost.
    expect(await updatePulse(database)).toEqual(new Set());
    await queue.endLeases();
    expect(await queue.ended([id])).toEqual(new Map());
    // A grace from before is no longer than any other.
    await database.query(`update ${SCHEMA}.pulse set grace_until = now() + interval '1 day'`);
    expect(await updatePulse(database)).toEqual(new Set());
    const isShort = `select bool_and(grace_until < now() + interval '91s') as "isShort" from ${SCHEMA}.pulse`;
    expect((await database.query(isShort)).rows).toEqual([{ isShort: true }]);

    await database.query(`update ${SCHEMA}.pulse set grace_until = now()`);
    expect(await updatePulse(database)).toContain(10);
    await queue.endLeases();
    expect(await queue.ended([id])).toEqual(new Map([[id, { kind: 'lost', together: 1 }]]));
    await queue.routes.close();
  });

  test('a coordinator that was replaced sends, ends and removes nothing', async () => {
    const older = await open(90);
    const id = await send(older);
    const order = { queue: older.routes.queues[0]!, id };
    const newer = await open(90);
    const acts = [
      () => send(older),
      () => older.cancel([order]),
      () => older.withdrawUntaken([id]),
      () => older.forget([order]),
    ];
    for (const act of acts) await expect(act()).rejects.toThrow('has taken over this shift');
    expect(await newer.all()).toEqual([{ ...order, isWaiting: true }]);

    await database.boss.fetch(order.queue);
    await database.query(`update ${SCHEMA}.job set heartbeat_on = now() - interval '1 hour'`);
    await database.query(`update ${SCHEMA}.pulse set grace_until = now()`);
    await expect(older.endLeases()).rejects.toThrow('has taken over this shift');
    expect(await newer.ended([id])).toEqual(new Map());
    await newer.routes.close();
  });

  test('an order is found by its route, also if the database has lost it', async () => {
    const queue = await open(90);
    await send(queue);
    await database.query(`delete from ${SCHEMA}.route`);
    await send(queue);
    const { rows } = await database.query(`select queue from ${SCHEMA}.route`);
    expect(rows).toEqual([{ queue: queue.routes.queues[0] }]);
    await queue.routes.close();
  });

  test('a queue that a failover has lost is opened again: in this run, and in the next', async () => {
    const queue = await open(90);
    const before = await send(queue);
    const [name = ''] = queue.routes.queues;
    const lose = async () => {
      await using another = new FleetDatabase({ url: server.url, isInsecure: false });
      await another.join();
      await another.boss.deleteQueue(name);
    };
    await lose();
    await database.query(`delete from ${SCHEMA}.route`);
    const after = await send(queue);
    expect(await queue.all()).toEqual([{ queue: name, id: after, isWaiting: true }]);
    await queue.forget([{ queue: name, id: before }]);

    await lose();
    const next = await open(90);
    const id = await send(next);
    expect(await next.all()).toEqual([{ queue: name, id, isWaiting: true }]);
    await next.routes.close();
  });

  test('orders that are cancelled at the same time share two transactions at most', async () => {
    const queue = await open(90);
    const ids = await Promise.all(Array.from({ length: 50 }, () => send(queue)));
    const told: string[] = [];
    await using another = new FleetDatabase({ url: server.url, isInsecure: false });
    await another.listen([CHANNEL], (kind, id) => void (kind === 'cancel' && told.push(id)));
    await Promise.all(ids.map((id) => queue.cancel([{ queue: queue.routes.queues[0]!, id }])));
    const { rows } = await database.query(`select distinct xmin::text from ${SCHEMA}.job where state = 'cancelled'`);
    expect(rows.length).toBeLessThanOrEqual(2);
    const ends = await queue.ended(ids);
    expect([...ends.values()].filter(({ kind }) => kind === 'cancelled')).toHaveLength(50);
    await expect.poll(() => told.sort()).toEqual(ids.sort());
    await queue.routes.close();
  });

  test('orders that are sent at the same time share a transaction, unless it would be a large one', async () => {
    const queue = await open(90);
    const transactions = async (body: string) => {
      await Promise.all([send(queue, body), send(queue, body), send(queue, body), send(queue, body)]);
      const { rows } = await database.query(`select distinct xmin::text from ${SCHEMA}.job`);
      await queue.forget(await queue.all());
      return rows.length;
    };
    expect(await transactions('short')).toBe(1);
    expect(await transactions('x'.repeat(3 * 1024 * 1024))).toBe(2);
    await queue.routes.close();
  });

  test('a queue that is empty is removed after a while, and opened again for the next order', async () => {
    const queue = await open(90);
    const id = await send(queue);
    const routes = async () => (await database.query(`select from ${SCHEMA}.route`)).rows.length;
    const now = performance.now();
    using clock = vi.spyOn(performance, 'now');
    clock.mockReturnValue(now + 3600_000);
    await queue.routes.closeUnused(await queue.all());
    expect(await routes()).toBe(1);

    await queue.forget([{ queue: queue.routes.queues[0]!, id }]);
    const [closed, next] = await Promise.all([queue.routes.closeUnused(await queue.all()).then(routes), send(queue)]);
    expect(closed).toBe(0);
    expect(await queue.all()).toMatchObject([{ id: next, isWaiting: true }]);
    await queue.routes.close();
  });
});
