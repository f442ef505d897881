import { expect, test } from 'vitest';
import { addressFor, initFleet, type Roles } from '../../../src/fleet/admin.ts';
import { FleetDatabase } from '../../../src/fleet/database.ts';
import { until } from '../../harness.ts';
import { CutProxy } from '../../kit/cut-proxy.ts';
import { describePostgres, startTestPostgres, type TestPostgres } from '../../kit/postgres.ts';
import { judge, witnessTask } from '../agent-runs.ts';
import { eventually } from '../eventually.ts';
import { type FleetProcess, FleetSite, tableOf } from '../fleet-kit.ts';

const ROWS = 80;

async function initialised(postgres: TestPostgres): Promise<Roles> {
  await using admin = new FleetDatabase({ url: postgres.url, isInsecure: false });
  return await initFleet(admin);
}

/** A run with the roles of `fleet init`, in which some items are done. */
async function startRun(url: string, roles: Roles, site: FleetSite): Promise<FleetProcess> {
  for (const name of ['w1', 'w2']) site.worker(name, { slots: 4, url: addressFor(url, roles.worker) });
  const coordinator = site.coordinator({ url: addressFor(url, roles.owner) });
  await until(() => doneRows(site).size >= 15, 'some items to be done');
  return coordinator;
}

function newSite(postgres: TestPostgres): FleetSite {
  return new FleetSite({
    postgres,
    table: tableOf(ROWS, ['work'], ['by']),
    tasks: (witness) => ({ work: witnessTask(witness, 1.5) }),
    settings: { 'current-batch-size': 8 },
  });
}

/** With running transactions, PostgreSQL may end the statement as a deadlock: then one repeats it. */
async function dropSchema(postgres: TestPostgres): Promise<void> {
  await eventually('the schema to be dropped', async () => {
    await postgres.query('drop schema if exists nightshift cascade');
    return true;
  });
}

/** Names of rows that are done, with who did them. */
function doneRows(site: FleetSite): Map<string, string> {
  const done = site.shift.rows().filter(({ work }) => work === 'done');
  return new Map(done.map(({ name, by }) => [name!, by!]));
}

async function expectResumed(site: FleetSite, coordinator: FleetProcess, before: Map<string, string>): Promise<void> {
  const { code } = await coordinator.ended;
  expect(code, coordinator.log.slice(-3000)).toBe(0);
  const after = doneRows(site);
  expect(after.size).toBe(ROWS);
  expect([...before].filter(([name, by]) => after.get(name) !== by)).toEqual([]);
  const verdict = judge(site, 'work', 1.5);
  console.log(`${before.size} recorded before, 0 of them lost; ${verdict.repeated} repeated`);
  expect(verdict).toMatchObject({ lost: [], recordedTwice: [] });
  // At most what was in flight at each loss, and what had ended in its last seconds.
  expect(verdict.repeated).toBeLessThanOrEqual(ROWS / 2);
}

describePostgres('a fleet whose database loses what it knew', () => {
  test('by a failover to a standby that is 5 seconds behind', async () => {
    await using postgres = await startTestPostgres();
    const roles = await initialised(postgres);
    const standby = await postgres.standby({ delay: '5s' });
    await using proxy = await CutProxy.open(postgres.port);
    const site = newSite(postgres);
    const coordinator = await startRun(proxy.urlOf(postgres.url), roles, site);
    proxy.refuse();
    await postgres.stop('immediate');
    const before = doneRows(site);
    await standby.promote();
    proxy.retarget(standby.port);
    proxy.resume();
    await expectResumed(site, coordinator, before);
  });

  test('by `drop schema`, twice', async () => {
    await using postgres = await startTestPostgres();
    const roles = await initialised(postgres);
    const site = newSite(postgres);
    const coordinator = await startRun(postgres.url, roles, site);
    await dropSchema(postgres);
    const first = doneRows(site);
    await until(() => doneRows(site).size >= first.size + 15, 'the run to resume');
    await dropSchema(postgres);
    const before = doneRows(site);
    await expectResumed(site, coordinator, before);
  });
});
