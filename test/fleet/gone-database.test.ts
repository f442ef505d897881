import { expect } from 'vitest';
import { shellTask, until } from '../harness.ts';
import { CutProxy } from '../kit/cut-proxy.ts';
import { describePostgres, postgresTest, type TestPostgres } from '../kit/postgres.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { startFleetPostgres } from './fleet-postgres.ts';

function newSite(postgres: TestPostgres, rows: number): FleetSite {
  return new FleetSite({
    postgres,
    table: tableOf(rows, ['work']),
    tasks: (witness) => ({
      work: shellTask(`echo begun >>${witness}\nsleep 600`, 'true', '- agent: shell\n- workspace: none'),
    }),
    settings: { 'current-batch-size': rows },
  });
}

const begun = (site: FleetSite) =>
  site.project.exists('witness.log') ? site.project.read('witness.log').trim().split('\n').length : 0;

describePostgres('without a database', () => {
  postgresTest('a worker ends after its grace, although it can report nothing', async () => {
    await using postgres = await startFleetPostgres();
    const site = newSite(postgres, 1);
    const worker = site.worker('w1', { args: ['--grace', '1s'] });
    site.coordinator();
    await until(() => begun(site) === 1, 'an agent');
    await postgres.stop('immediate');
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
    expect(worker.log).toMatch(/giving back 1 order.*row 1 work \(dev\): could not be reported/s);
  });

  postgresTest('`stop --now` waits for a network that drops packets once, not for each order', async () => {
    await using postgres = await startFleetPostgres();
    await using proxy = await CutProxy.open(postgres.port);
    const site = newSite(postgres, 8);
    const worker = site.worker('w1');
    const coordinator = site.coordinator({ url: proxy.urlOf(postgres.url) });
    await until(() => begun(site) === 8, 'eight agents');
    proxy.drop();
    site.command(['stop', 'fleet', '--now']);
    await until(() => !coordinator.isRunning, 'the run to end', 40_000);
    expect(await coordinator.ended).toMatchObject({ code: 130 });
    const end = site.journal().findLast(({ type }) => type === 'run:finished');
    expect(end).toMatchObject({ reason: 'left 8 items with workers', left: 8 });
    expect(site.shift.column('work')).toEqual(Array(8).fill('in_progress'));
    expect(worker.isRunning).toBe(true);
    expect(await postgres.query(`select from nightshift.job where state = 'active'`)).toHaveLength(8);
  });
});
