import { expect } from 'vitest';
import { until } from '../harness.ts';
import { postgresTest } from '../kit/postgres.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { FleetSite, LEASE_MS, tableOf } from './fleet-kit.ts';
import { startFleetPostgres } from './fleet-postgres.ts';

postgresTest('a shift or a start with a longer lease costs no healthy worker its order', async () => {
  await using postgres = await startFleetPostgres();
  const newSite = () =>
    new FleetSite({
      postgres,
      table: tableOf(1, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
    });
  const longer = { env: { NIGHTSHIFT_FLEET_LEASE: '180s' } };
  const site = newSite();
  site.hold();
  site.worker('w1', { slots: 1 });
  const first = site.coordinator();
  await until(() => readAgentRuns(site.witness).length === 1, 'an agent');

  newSite().coordinator(longer);
  const coordinators = async () =>
    (await postgres.query(`select from nightshift.shift where lease_seconds = 180`)).length;
  await eventually('the other shift', async () => (await coordinators()) === 1);
  await eventually('more than a lease', () => isOlderThan(1.5));
  await first.kill();
  const second = site.coordinator(longer);
  await eventually('its lease', async () => (await coordinators()) === 2);
  await eventually('another lease', () => isOlderThan(3));
  site.release();

  expect(await second.ended).toMatchObject({ code: 0 });
  expect(readAgentRuns(site.witness)).toHaveLength(1);
  expect(site.journal().filter(({ type }) => type === 'worker:lost' || type === 'item:returned')).toEqual([]);

  async function isOlderThan(leases: number): Promise<boolean> {
    const seconds = (leases * LEASE_MS) / 1000;
    const orders = await postgres.query(
      `select from nightshift.job where started_on < now() - make_interval(secs => ${seconds})`,
    );
    return orders.length === 1 || readAgentRuns(site.witness).length > 1;
  }
});
