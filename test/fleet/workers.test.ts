import { expect, test } from 'vitest';
import { shellTask, until } from '../harness.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

describeFleet('workers of a fleet', (postgres) => {
  function newSite(
    rows: number,
    seconds: number | 'while-held',
    parts: { env?: string; more?: string } = {},
  ): FleetSite {
    const { env, more = '' } = parts;
    const site = new FleetSite({
      postgres,
      table: tableOf(rows, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, seconds, { settings: more }) }),
      settings: { 'current-batch-size': rows },
      ...(env === undefined ? {} : { env }),
    });
    site.hold();
    return site;
  }

  const begun = (site: FleetSite) => readAgentRuns(site.witness).length;
  /** On which workers devs have finished. */
  const workersOf = (site: FleetSite) => [
    ...new Set(site.journal().flatMap(({ type, worker }) => (type === 'dev:finished' ? [worker] : []))),
  ];

  async function status(
    site: FleetSite,
  ): Promise<{ shifts: { wanted: number }[]; workers: { name: string; problems: string[] }[] }> {
    const { stdout } = await site.project.run(['fleet', 'status', '--url', site.url, '--json']);
    return JSON.parse(stdout);
  }

  async function problemsOf(site: FleetSite, name: string): Promise<string> {
    return (await status(site)).workers.find((worker) => worker.name === name)?.problems.join('\n') ?? 'not there';
  }

  test('X9 a worker that lacks something gets no orders, and status says why; the run continues', async () => {
    const site = newSite(4, 'while-held', { env: 'API_TOKEN=x\n', more: '\n- worker-labels: gpu\n- timeout: 5m' });
    site.project.write('worker.env', 'API_TOKEN=y\n');
    const secret = ['--env-file', site.project.path('worker.env')];
    site.worker('no-secret', { args: ['--labels', 'gpu'] });
    site.worker('no-label', { args: secret });
    site.worker('no-time', { args: [...secret, '--labels', 'gpu', '--for', '4m'] });
    const coordinator = site.coordinator();
    await until(() => site.journal().some(({ type }) => type === 'fleet:waiting'), 'the run to wait');
    // One of another version.
    await eventually('the fleet', async () => (await status(site)).workers.length === 3);
    await postgres.query(
      `insert into nightshift.worker (id, name, slots, offers, version, protocol, lease_seconds)
       select gen_random_uuid(), 'other-version', 9, offers, '9.0.0', 99, 3600 from nightshift.worker limit 1`,
    );
    site.worker('fit', { args: [...secret, '--labels', 'gpu'] });
    await until(() => begun(site) === 4, 'all agents');
    await eventually('problems', async () =>
      /lacks secret:API_TOKEN for shift fleet: add it to its --env-file/.test(await problemsOf(site, 'no-secret')),
    );
    expect(await problemsOf(site, 'no-label')).toMatch(/lacks label:gpu for shift fleet: add it to its --labels/);
    expect(await problemsOf(site, 'no-time')).toMatch(/lacks time:300 .*its --for ends before/);
    expect(await problemsOf(site, 'other-version')).toMatch(
      /protocol 99, but shift fleet has 1: upgrade the coordinator/,
    );
    site.release();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(workersOf(site)).toEqual(['fit']);
    await postgres.query(`delete from nightshift.worker where name = 'other-version'`);
  });

  test('one whose agent can’t be used gives the item back and gets no more orders for it', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(2, ['work']),
      tasks: () => ({ work: shellTask('true', 'true', '- agent: claude\n- workspace: none') }),
      settings: { 'current-batch-size': 16 },
    });
    const worker = site.worker('no-agent', { env: { PATH: '/usr/bin:/bin' } });
    const coordinator = site.coordinator();
    await until(() => site.journal().some(({ type }) => type === 'fleet:waiting'), 'the run to wait');
    // Two rows want no more than two slots, whatever the concurrency.
    await eventually('the demand', async () => (await status(site)).shifts.some(({ wanted }) => wanted === 2));
    const waiting = site.journal().find(({ type }) => type === 'fleet:waiting');
    expect(waiting.reason).toMatch(/no worker (is connected|has agent:claude)/);
    await eventually('problems', async () => /agent:claude/.test(await problemsOf(site, 'no-agent')));
    await worker.printed('gets no orders: agent:claude');
    await until(() => site.journal().some(({ reason }) => reason === 'no worker has agent:claude'), 'the reason');
    const { stdout } = await site.project.run(['status', 'fleet']);
    expect(stdout).toContain('\n  waiting for workers: no worker has agent:claude\n');
    expect(coordinator.isRunning).toBe(true);
    await coordinator.kill('SIGTERM');
  });

  test('one that joins gets orders at once, also while long items run on all others', async () => {
    const site = newSite(2, 'while-held');
    site.worker('first', { slots: 1 });
    const coordinator = site.coordinator();
    await until(() => begun(site) === 1, 'an agent');
    site.worker('second', { slots: 1 });
    await until(() => begun(site) === 2, 'an agent on the second worker');
    site.release();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    const recorded = site.journal().filter(({ type, to }) => type === 'item:recorded' && to === 'done');
    expect(recorded.map(({ worker }) => worker).sort()).toEqual(['first', 'second']);
  });

  test('one that is drained, or has nothing to do, finishes what it has and ends', async () => {
    const site = newSite(8, 'while-held');
    const drained = site.worker('drained', { slots: 2 });
    await drained.printed('is ready');
    const coordinator = site.coordinator();
    await until(() => begun(site) === 2, 'two agents');
    await eventually('the demand', async () => (await status(site)).shifts.some(({ wanted }) => wanted === 8));
    expect(await site.project.run(['fleet', 'drain', 'drained', '--url', site.url])).toMatchObject({ code: 0 });
    site.release();
    const idle = site.worker('idle', { slots: 8, args: ['--exit-when-idle', '2s'] });
    expect(await drained.ended).toMatchObject({ code: 0 });
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(await idle.ended).toMatchObject({ code: 0 });
    expect(begun(site)).toBe(8);
    expect(drained.log.match(/: finished/g)).toHaveLength(2);
    expect(await site.project.run(['fleet', 'drain', 'nobody', '--url', site.url])).toMatchObject({ code: 2 });
  });

  test('SIGTERM: orders finish within --grace, or are given back at once', async () => {
    const site = newSite(2, 'while-held');
    const patient = site.worker('patient', { slots: 1, args: ['--grace', '30s'] });
    const hasty = site.worker('hasty', { slots: 1, args: ['--grace', '1s'] });
    await Promise.all([patient, hasty].map((worker) => worker.printed('is ready')));
    const coordinator = site.coordinator();
    await until(() => begun(site) === 2, 'two agents');
    for (const worker of [patient, hasty]) worker.child.kill('SIGTERM');
    expect(await hasty.ended).toMatchObject({ code: 0 });
    expect(hasty.log).toContain('given back: the worker was stopped');
    site.release();
    expect(await patient.ended).toMatchObject({ code: 0 });
    expect(patient.log).toContain(': finished');
    site.worker('other');
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(begun(site)).toBe(3);
    // No lease had to end first.
    const lost = site.journal().filter(({ type, worker }) => type === 'worker:lost' && /patient|hasty/.test(worker));
    expect(lost).toEqual([]);
  });

  test('`fleet stop`: what runs finishes, then coordinators and workers end', async () => {
    const site = newSite(6, 'while-held');
    const worker = site.worker('w1', { slots: 2 });
    const coordinator = site.coordinator();
    await until(() => begun(site) === 2, 'two agents');
    const { stdout } = await site.project.run(['fleet', 'stop', '--url', site.url]);
    expect(stdout).toMatch(/^stopping fleet.* and \d+ workers?; running orders may finish\n$/);
    site.release();
    expect((await coordinator.ended).code).toBe(130);
    expect(await worker.ended).toMatchObject({ code: 0 });
    expect(site.shift.column('work').sort()).toEqual([...Array(2).fill('done'), ...Array(4).fill('todo')]);
  });
});
