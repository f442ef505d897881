import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { addressFor, initFleet, type Roles, readFleetStatus } from '../../src/fleet/admin.ts';
import { affectedBy, FleetDatabase } from '../../src/fleet/database.ts';
import { SCHEMA } from '../../src/fleet/schema.ts';
import { describeServer } from '../kit/postgres.ts';

const QUEUE = 'queue-of-test';

describeServer('the roles of a fleet', (postgres) => {
  let roles: Roles;

  beforeAll(async () => {
    await using admin = new FleetDatabase({ url: postgres.url, isInsecure: false });
    roles = await initFleet(admin);
  });

  const as = (role: keyof Roles) =>
    new FleetDatabase({ url: addressFor(postgres.url, roles[role]), isInsecure: false });

  /** A worker takes an order of a coordinator and reports it. */
  async function expectWork(): Promise<void> {
    await using owner = as('owner');
    await owner.install();
    await owner.boss.createQueue(QUEUE, { retryLimit: 0, heartbeatSeconds: 10 });
    const id = randomUUID();
    await owner.boss.send(QUEUE, { body: '{}', signature: '' }, { id });
    await using worker = as('worker');
    await worker.join();
    const [taken] = await worker.boss.fetch(QUEUE, { batchSize: 1 });
    expect(taken?.id).toBe(id);
    expect(await affectedBy(worker.boss.touch(QUEUE, id))).toBe(1);
    expect(await affectedBy(worker.boss.complete(QUEUE, id, { worker: 'w' }))).toBe(1);
    expect(await affectedBy(owner.boss.deleteJob(QUEUE, id))).toBe(1);
  }

  test('whoever drops the schema, the coordinator creates all of it again, with the rights of workers', async () => {
    await expectWork();
    await postgres.query(`drop schema ${SCHEMA} cascade`);
    await expectWork();
    await postgres.query(`drop schema ${SCHEMA} cascade`);
    // A superuser coordinates for once; then the owner again.
    await using admin = new FleetDatabase({ url: postgres.url, isInsecure: false });
    await admin.install();
    await expectWork();
    await using worker = as('worker');
    const { shifts } = await readFleetStatus(worker);
    expect(shifts).toEqual([]);
  });

  test('a worker can neither add nor change an order, nor take over a shift', async () => {
    await expectWork();
    await using worker = as('worker');
    await worker.join();
    const denied = { code: '42501' };
    await expect(worker.boss.send(QUEUE, { body: '{}', signature: '' })).rejects.toMatchObject(denied);
    await expect(worker.query(`update ${SCHEMA}.job set data = '{}'`)).rejects.toMatchObject(denied);
    await expect(worker.query(`update ${SCHEMA}.shift set epoch = 99`)).rejects.toMatchObject(denied);
    await expect(worker.query(`insert into ${SCHEMA}.route values ('q', 's', '{}')`)).rejects.toMatchObject(denied);
    await expect(worker.query(`drop schema ${SCHEMA} cascade`)).rejects.toMatchObject(denied);
  });
});
