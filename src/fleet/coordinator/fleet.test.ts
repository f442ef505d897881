import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeServer } from '../../../test/kit/postgres.ts';
import type { Order, Outcome } from '../../core/model/model.ts';
import type { Call, Worker } from '../../engine/worker/worker-ports.ts';
import { FleetDatabase } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import { newSigningKey, signerFrom } from '../signature.ts';
import { Fleet } from './fleet.ts';
import type { FleetOptions } from './fleet-options.ts';

const SECRETS = { API_TOKEN: 'canary-of-the-coordinator' };

/** The worker is the test: it takes orders from the database and ends them as it likes. */
describeServer('a coordinator and one of its items', (server) => {
  const database = {
    coordinator: undefined as unknown as FleetDatabase,
    worker: undefined as unknown as FleetDatabase,
  };
  let fleet: Fleet;
  let worker: Worker;

  beforeAll(async () => {
    for (const side of ['coordinator', 'worker'] as const)
      database[side] = new FleetDatabase({ url: server.url, isInsecure: false });
    fleet = await new Fleet(options(database.coordinator)).open();
    worker = fleet.worker(SECRETS);
    await database.worker.join();
  });

  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]();
    for (const each of Object.values(database)) await each?.[Symbol.asyncDispose]();
  });

  /** Sends the order of an item, and ends it once a worker has it. */
  async function carryOut(item: string, end: (queue: string, id: string) => Promise<unknown>): Promise<Outcome> {
    const never = new AbortController().signal;
    const call: Call = { emit: () => {}, signal: never, drain: never, spent: never };
    const running = worker.run(orderOf(item), call);
    const [queue, id] = await taken();
    await end(queue, id);
    const outcome = await running;
    await worker.drop(orderOf(item).token);
    return outcome;
  }

  async function taken(): Promise<[queue: string, id: string]> {
    const waiting = `select name from ${SCHEMA}.job where state = 'created'`;
    await expect.poll(() => server.query(waiting), { timeout: 10_000, interval: 10 }).toHaveLength(1);
    const [{ name }] = (await server.query<{ name: string }>(waiting)) as [{ name: string }];
    const [job] = await database.worker.boss.fetch(name);
    return [name, job!.id];
  }

  const lose = (_: string, id: string) =>
    server.query(`update ${SCHEMA}.job set heartbeat_on = now() - interval '1 hour' where id = $1`, [id]);
  const report = (outcome: object) => (queue: string, id: string) =>
    database.worker.boss.complete(queue, id, { worker: 'w', lines: 0, outcome });

  test.each([
    ['takes its worker down with it', lose, 'its worker was lost'],
    ['makes its worker send nonsense', report({ role: 'nobody' }), 'a worker sent an invalid report'],
  ])('one that %s three times is failed', async (item, end, reason) => {
    for (let times = 1; times < 3; times++) {
      const outcome = await carryOut(item, end);
      expect(outcome).toMatchObject({ reason, trouble: { reason, isWorker: true } });
      expect(outcome.to).toBeUndefined();
    }
    const failed = await carryOut(item, end);
    expect(failed).toMatchObject({
      ...{ to: 'failed', failurePoint: 'worker' },
      reason: `${reason} (3 times): this item may be the cause`,
    });
    expect(failed.trouble).toBeUndefined();
  });

  test('values of the coordinator’s own .env are masked in what a worker reports', async () => {
    const text = 'it is canary-of-the-coordinator';
    const shown = 'it is [API_TOKEN]';
    const verdicts = [{ criterion: 'c', status: 'FAIL', reason: text }];
    const nothing = { outputs: {}, captured: {}, recommendations: [text], usage: {}, compacted: false };
    const outcome = await carryOut(
      'tells all',
      report({ role: 'dev', to: 'failed', attempts: 1, reason: text, verdicts, ...nothing }),
    );
    expect(outcome).toMatchObject({ reason: shown, verdicts: [{ reason: shown }], recommendations: [shown] });
  });
});

function options(database: FleetDatabase): FleetOptions {
  const never = new AbortController().signal;
  const shift = { key: 'key-of-the-shift', name: 'night', host: 'here' };
  return {
    ...{ database, shift, signer: signerFrom(newSigningKey()), leaseSeconds: 60 },
    ...{ emit: () => {}, flush: async () => {}, positionOf: () => 0, failpoint: () => {} },
    local: () => ({ drop: async () => {} }) as unknown as Worker,
    place: () => 'none',
    hold: async () => {},
    files: { latest: () => Promise.reject(new Error('no order uses files')) },
    ...{ secrets: () => SECRETS, isPaused: () => false, onStop: () => {}, stopped: never, left: never },
    onFailure: (error) => {
      throw error;
    },
  };
}

function orderOf(item: string): Order {
  return {
    ...{ role: 'dev', task: 'work', token: `token of ${item}`, key: 'k', secretNames: [] },
    item: { id: item, index: 0, metadata: {} },
    settings: { agent: 'shell', sandbox: 'off', timeoutMs: 60_000, outputs: [] },
    template: { steps: [], criteria: [] },
  } as unknown as Order;
}
