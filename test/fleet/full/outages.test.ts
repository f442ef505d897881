import { expect, test } from 'vitest';
import { sleep, until } from '../../harness.ts';
import { CutProxy } from '../../kit/cut-proxy.ts';
import { describePostgres, type TestPostgres } from '../../kit/postgres.ts';
import { judge, readAgentRuns, witnessTask } from '../agent-runs.ts';
import { FleetSite, LEASE_MS, tableOf } from '../fleet-kit.ts';
import { startFleetPostgres } from '../fleet-postgres.ts';

function newSite(postgres: TestPostgres, rows: number, seconds: number, firstSeconds = seconds): FleetSite {
  return new FleetSite({
    postgres,
    table: tableOf(rows, ['work'], ['by']),
    tasks: (witness) => ({ work: witnessTask(witness, seconds, { firstSeconds }) }),
    settings: { 'current-batch-size': rows },
  });
}

const right = { lost: [], recordedTwice: [] };

describePostgres('a fleet whose database is out of reach', () => {
  test('the items of a worker that is cut off silently are given back within 1.5 leases', async () => {
    await using postgres = await startFleetPostgres();
    await using proxy = await CutProxy.open(postgres.port);
    const site = newSite(postgres, 8, 30);
    const cut = site.worker('cut', { slots: 8, url: proxy.urlOf(postgres.url) });
    const coordinator = site.coordinator();
    await until(() => readAgentRuns(site.witness).length === 8, 'all agents');
    site.worker('other', { slots: 8 });
    proxy.drop();
    const since = Date.now();
    const again = () => readAgentRuns(site.witness).length - 8;
    await until(() => again() === 8, 'all of them on the other worker', 2 * LEASE_MS);
    const took = (Date.now() - since) / LEASE_MS;
    await sleep(Math.max(0, 2 * LEASE_MS - (Date.now() - since)));
    proxy.resume();
    await until(() => (cut.log.match(/refused: the lease had expired/g) ?? []).length === 8, 'eight refusals');
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    console.log(`8 given back and begun again after ${took.toFixed(2)} leases; 8 late results refused`);
    expect(took).toBeLessThanOrEqual(1.5);
    expect(judge(site, 'work', 30)).toMatchObject(right);
    expect(again()).toBe(8);
  });

  test('nothing is repeated when the coordinator is cut off silently for two leases', async () => {
    await using postgres = await startFleetPostgres();
    await using proxy = await CutProxy.open(postgres.port);
    const site = newSite(postgres, 24, 8);
    for (const name of ['w1', 'w2']) await site.worker(name, { slots: 8 }).printed('is ready');
    const coordinator = site.coordinator({ url: proxy.urlOf(postgres.url) });
    await until(() => readAgentRuns(site.witness).length === 16, '16 agents');
    proxy.drop();
    await sleep(2 * LEASE_MS);
    proxy.resume();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    const verdict = judge(site, 'work', 8);
    console.log(`coordinator cut off for 2 leases: ${verdict.repeated} repeated`);
    expect(verdict).toMatchObject({ ...right, acceptedBesideAnother: [], repeated: 0 });
  });

  test.each(['fast', 'immediate'] as const)(
    'nothing is repeated when Postgres is down for 2.5 leases (%s)',
    async (how) => {
      await using postgres = await startFleetPostgres();
      const site = newSite(postgres, 32, 12, 40);
      for (const name of ['w1', 'w2']) await site.worker(name, { slots: 8 }).printed('is ready');
      const coordinator = site.coordinator();
      await until(() => readAgentRuns(site.witness).length === 16, '16 agents');
      // The first is at work for longer than the outage, the others end in it.
      await postgres.stop(how);
      await sleep(2.5 * LEASE_MS);
      await postgres.start();
      expect(await coordinator.ended).toMatchObject({ code: 0 });
      const verdict = judge(site, 'work', 40);
      console.log(`Postgres down for 2.5 leases (${how}): ${verdict.repeated} repeated`);
      expect(verdict).toMatchObject({ ...right, acceptedBesideAnother: [], repeated: 0 });
    },
  );
});
