import { expect, test } from 'vitest';
import { shellTask, until } from '../harness.ts';
import { whileHeld } from './agent-runs.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

describeFleet('protected files on a shared volume', (postgres) => {
  /** A dev makes the script of its check succeed; the check itself would fail. */
  function newSite(): FleetSite {
    const site = new FleetSite({
      postgres,
      table: tableOf(1, ['work']),
      tasks: (witness) => ({
        work: shellTask(
          `touch begun\n${whileHeld(witness)}\necho true > check.sh`,
          'sh check.sh',
          '- agent: shell\n- attempts: 1\n- protect: check.sh',
        ),
      }),
    });
    site.project.write('check.sh', 'false\n');
    return site;
  }

  test.each([
    ['D5 are restored, and checks run with them', () => Promise.resolve()],
    ['D5 also after the coordinator has left its items', (site: FleetSite) => leave(site)],
  ])('%s', async (_, meanwhile) => {
    const site = newSite();
    site.hold();
    const worker = site.worker('w1', { args: ['--root', site.project.root] });
    const coordinator = site.coordinator();
    await until(() => site.project.exists('begun'), 'the agent');
    await meanwhile(site);
    site.release();
    await worker.printed('failed');
    const last = coordinator.isRunning ? coordinator : site.coordinator();
    expect(await last.ended).toMatchObject({ code: 3 });
    expect(site.shift.column('work')).toEqual(['failed']);
    expect(site.project.read('check.sh')).toBe('false\n');
    expect(worker.log).toMatch(/restored .*check\.sh: protected; changed while row 1 was running/);
  });

  async function leave(site: FleetSite): Promise<void> {
    const stop = site.command(['stop', 'fleet', '--leave']);
    expect(await stop.ended, stop.log).toMatchObject({ code: 0 });
  }
});
