import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { task, until } from '../harness.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

describeFleet('lessons in a fleet', (postgres) => {
  function newSite(rows = 1): FleetSite {
    const program = resolve('test/fixtures/teaching-agent.sh');
    return new FleetSite({
      postgres,
      table: tableOf(rows, ['work']),
      tasks: (witness) => ({
        work: task({
          configuration: `- agent: command\n- command: ${program} ${witness}\n- workspace: none`,
          steps: '1. Open {name}',
          validation: '- It is good',
        }),
      }),
      settings: { lessons: 'eager' },
    });
  }

  const managers = (site: FleetSite) =>
    existsSync(site.witness) ? readFileSync(site.witness, 'utf8').trim().split('\n') : [];
  const warnings = (site: FleetSite): string[] =>
    site.journal().flatMap(({ type, message }) => (type === 'run:warning' ? [message] : []));

  test('L2 the manager’s agent runs on a worker for this role', async () => {
    const site = newSite();
    site.worker('dev-and-qa', { args: ['--roles', 'dev,qa'] });
    site.worker('manager', { args: ['--roles', 'manager'] });
    expect(await site.coordinator().ended).toMatchObject({ code: 0 });
    expect(managers(site)).toEqual([expect.stringContaining('/machines/manager/')]);
    expect(site.shift.task('work')).toContain('1. Open {name}\n2. Knock twice\n3. Wipe your feet\n');
    expect(warnings(site)).toEqual([]);
  });

  test('L6 without such a worker, the run warns, and groups them by their words', async () => {
    const site = newSite(2);
    site.worker('dev-and-qa', { args: ['--roles', 'dev,qa'] });
    expect(await site.coordinator().ended).toMatchObject({ code: 0 });
    expect(site.shift.task('work')).toContain('2. Knock twice');
    expect(warnings(site)).toEqual([expect.stringContaining('no worker has role:manager')]);
  });

  test('a coordinator that is killed while everything is done and the manager thinks: the next start cleans up', async () => {
    const site = newSite();
    site.hold();
    const worker = site.worker('w1');
    const first = site.coordinator();
    await until(() => managers(site).length === 1, 'the manager');
    await until(() => site.shift.column('work')[0] === 'done', 'the row');
    await first.kill();

    expect(await site.coordinator().ended).toMatchObject({ code: 0 });
    await until(() => worker.log.includes('work (manager): ended'), 'the end of its agent');
    for (const table of ['job', 'line', 'route'])
      expect(await postgres.query(`select * from nightshift.${table}`), table).toEqual([]);
    expect(await postgres.query('select pid, wanted from nightshift.shift where pid <> 0 or wanted <> 0')).toEqual([]);
  });
});
