import { expect, test } from 'vitest';
import { Project, shellTask, until } from '../harness.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { type FleetProcess, FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

const ROWS = 6;
const AT_WORK = 4;

describeFleet('`stop --leave`', (postgres) => {
  const agents = (site: FleetSite) => readAgentRuns(site.witness);
  const statuses = (site: FleetSite) => site.shift.column('work').sort();
  const AT_WORKERS = [...Array(AT_WORK).fill('in_progress'), ...Array(ROWS - AT_WORK).fill('todo')];

  async function fourAtWork(): Promise<{ site: FleetSite; worker: FleetProcess; coordinator: FleetProcess }> {
    const site = new FleetSite({
      postgres,
      table: tableOf(ROWS, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
      settings: { 'current-batch-size': AT_WORK, 'max-batch-size': AT_WORK },
    });
    site.hold();
    const worker = site.worker('w1', { slots: AT_WORK });
    const coordinator = site.coordinator();
    await until(() => agents(site).length === AT_WORK, 'four agents');
    return { site, worker, coordinator };
  }

  /** Nothing else may work on the items meanwhile. */
  async function expectRefusal(site: FleetSite): Promise<void> {
    const plain = site.command(['start', 'fleet', '--plain']);
    expect((await plain.ended).code).toBe(2);
    expect(plain.log).toContain('workers of a fleet may still be working on 4 items');
    expect(statuses(site)).toEqual(AT_WORKERS);
  }

  /** Each row has the result of one agent, and these agents are all that there were, but for some. */
  function expectDoneBy(site: FleetSite, { besides = 0 } = {}): void {
    expect(statuses(site)).toEqual(Array(ROWS).fill('done'));
    const runs = agents(site).slice(besides);
    expect(site.shift.column('by').sort()).toEqual(runs.map(({ id }) => id).sort());
  }

  test('ends the coordinator, agents go on, and the next start adopts them', async () => {
    const { site, worker, coordinator } = await fourAtWork();
    const stop = site.command(['stop', 'fleet', '--leave']);
    expect((await coordinator.ended).code).toBe(130);
    expect((await stop.ended).code).toBe(0);
    expect(stop.log).toContain('left 4 items with workers');
    expect(stop.log).toContain('`nightshift start fleet --fleet env` adopts the running items');
    const end = site.journal().findLast(({ type }) => type === 'run:finished');
    expect(end).toMatchObject({ exitCode: 130, reason: 'left 4 items with workers', left: AT_WORK });
    await expectRefusal(site);
    const status = site.command(['status', 'fleet']);
    expect((await status.ended).code).toBe(0);
    expect(status.log).toContain('left 4 items with workers');

    site.release();
    await until(() => agents(site).every(({ end: ended }) => ended !== undefined), 'the agents to end by themselves');
    expect(worker.isRunning).toBe(true);
    expect(statuses(site)).toEqual(AT_WORKERS);
    await eventually('the results', async () => {
      const { stdout } = await site.project.run(['fleet', 'status', '--url', site.url]);
      return stdout.includes('fleet: no coordinator; 4 results to record, 0 orders running');
    });

    expect((await site.coordinator().ended).code).toBe(0);
    expect(site.journal().findLast(({ type }) => type === 'run:started')).toMatchObject({ adopted: AT_WORK });
    expectDoneBy(site);
    expect(site.journal().filter(({ type }) => type === 'item:returned')).toEqual([]);
  });

  test('a stop while the database is down leaves the orders with workers, too', async () => {
    const { site, coordinator } = await fourAtWork();
    await postgres.stop();
    await site.command(['stop', 'fleet', '--now']).ended;
    expect((await coordinator.ended).code).toBe(130);
    const end = site.journal().findLast(({ type }) => type === 'run:finished');
    expect(end).toMatchObject({ reason: 'left 4 items with workers', left: AT_WORK });
    await expectRefusal(site);

    await postgres.start();
    site.release();
    expect((await site.coordinator().ended).code).toBe(0);
    expectDoneBy(site);
  });

  test('a coordinator that was killed leaves them as well; `--without-fleet` runs them on this machine', async () => {
    const { site, coordinator } = await fourAtWork();
    await coordinator.kill();
    await expectRefusal(site);
    const here = site.command(['start', 'fleet', '--json', '--without-fleet']);
    await until(() => agents(site).length === 2 * AT_WORK, 'four agents here');
    site.release();
    expect((await here.ended).code).toBe(0);
    expectDoneBy(site, { besides: AT_WORK });
    const finished = site.journal().filter(({ type }) => type === 'dev:finished');
    expect(finished.map(({ worker }) => worker)).toEqual(Array(ROWS).fill(undefined));
  });

  test('a start on another database warns that the items start over', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(2, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
    });
    const warnings = () => site.journal().flatMap(({ type, message }) => (type === 'run:warning' ? message : []));
    await postgres.query('create database another');
    const url = postgres.url.replace(/\/[^/]*$/, '/another');
    site.hold();
    site.worker('w1');
    site.coordinator();
    await until(() => readAgentRuns(site.witness).length === 2, 'two agents');
    await site.command(['stop', 'fleet', '--leave']).ended;
    expect(warnings()).toEqual([]);

    const elsewhere = site.coordinator({ url });
    await until(() => warnings().length > 0, 'the warning');
    expect(warnings()[0]).toContain('the last run left 2 items with workers, but this database has no orders for them');
    site.release();
    site.worker('w2', { url });
    expect((await elsewhere.ended).code).toBe(0);
    expect(site.shift.column('work')).toEqual(['done', 'done']);
    expect(readAgentRuns(site.witness)).toHaveLength(4);
  });
});

test('`stop --leave` is refused without a fleet, and with --now, and stops nothing', async () => {
  const project = new Project();
  const hold = project.path('hold');
  const shift = project.shift('alone', {
    table: tableOf(1, ['work']),
    tasks: { work: shellTask(`touch begun\nuntil test -e ${hold}; do sleep 0.05; done`, 'true', '- agent: shell') },
  });
  const run = project.spawn(['start', 'alone', '--json']);
  await until(() => project.exists('begun'), 'the agent');
  const refused = await project.run(['stop', 'alone', '--leave']);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toContain('and leave its agents running: it is not on a fleet');
  expect(refused.stderr).toContain('`nightshift stop alone` ends it when running items have finished');
  expect(await project.run(['stop', 'alone', '--leave', '--now'])).toMatchObject({ code: 2 });
  project.write('hold', '');
  expect((await run.ended).code).toBe(0);
  expect(shift.column('work')).toEqual(['done']);
  expect(shift.journal().map(({ type }) => type)).not.toContain('run:draining');
});
