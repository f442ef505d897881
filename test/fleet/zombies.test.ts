import { expect, test } from 'vitest';
import { until } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';
import { judge, readAgentRuns, witnessTask } from './agent-runs.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';

const ROWS = 4;

/** The database is told that the lease is over, so that nobody has to wait for it. */
describeServer('a worker that stood still past its lease', (postgres) => {
  test('X9 starts no program for its orders, has its late results refused, and says so', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(ROWS, ['work'], ['by']),
      tasks: (witness) => ({
        work: witnessTask(witness, 'while-held', {
          check: `echo $MACHINE >>${witness}.checks`,
          settings: '\n- pass-env: MACHINE',
        }),
      }),
      settings: { 'current-batch-size': ROWS },
    });
    const machine = (name: string) => ({ slots: ROWS, env: { MACHINE: name } });
    const checks = () => site.project.read('witness.log.checks').trim().split('\n');
    site.hold();
    const zombie = site.worker('zombie', machine('zombie'));
    const coordinator = site.coordinator();
    const agentRuns = () => readAgentRuns(site.witness);
    await until(() => agentRuns().length === ROWS, 'all agents');
    zombie.freeze();
    const frozenAt = performance.now();
    await postgres.query(`update nightshift.job set heartbeat_on = now() - interval '1 hour' where state = 'active'`);
    await postgres.query(`update nightshift.worker set seen = now() - interval '1 hour'`);
    await until(() => site.journal().some(({ type }) => type === 'worker:lost'), 'the worker to be lost');
    site.release();
    await until(() => agentRuns().every(({ end }) => end !== undefined), 'the agents to end');
    site.hold();
    site.worker('other', machine('other'));
    await until(() => agentRuns().length === 2 * ROWS, 'the other worker to begin');
    // A shorter stop is no reason for doubts: leases take longer.
    await until(() => performance.now() - frozenAt > 3000, 'a stop that a worker notices');
    // The ends of its agents wait for it: their checks would come next.
    zombie.thaw();
    const refusals = () => zombie.log.match(/refused: the lease had expired/g)?.length ?? 0;
    await until(
      () => refusals() === ROWS,
      () => `the refusals: ${zombie.log}`,
    );
    site.release();
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(judge(site, 'work', 0)).toMatchObject({ lost: [], recordedTwice: [], acceptedBesideAnother: [] });
    expect(agentRuns()).toHaveLength(2 * ROWS);
    expect(checks()).toEqual(Array(ROWS).fill('other'));
    const refused = site.journal().filter(({ type }) => type === 'result:refused');
    expect(refused.map(({ index, worker }) => `${index} ${worker}`).sort()).toEqual(
      Array.from({ length: ROWS }, (_, index) => `${index} zombie`),
    );
  });
});
