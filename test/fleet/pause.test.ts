import { expect, test } from 'vitest';
import { until } from '../harness.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { eventually } from './eventually.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

describeFleet('a pause of a shift on a fleet', (postgres) => {
  const begun = (site: FleetSite) => readAgentRuns(site.witness).length;
  const waiting = () => postgres.query(`select from nightshift.job where state = 'created'`);

  test('withdraws what no worker has taken, so that nothing begins before `resume`', async () => {
    const [other, paused] = [1, 2].map(
      () =>
        new FleetSite({
          postgres,
          table: tableOf(1, ['work'], ['by']),
          tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
        }),
    ) as [FleetSite, FleetSite];
    other.hold();
    // They share one worker with one slot.
    const worker = other.worker('w1', { slots: 1 });
    const first = other.coordinator();
    await until(() => begun(other) === 1, 'the agent of the other shift');
    const second = paused.coordinator({ env: { NIGHTSHIFT_FLEET_SIGNING_KEY: other.signingKey } });
    await eventually('the order', async () => (await waiting()).length === 1);

    expect(await paused.project.run(['pause', 'fleet'])).toMatchObject({ code: 0 });
    await eventually('the withdrawal', async () => (await waiting()).length === 0, 20_000);
    const returned = () => paused.journal().filter(({ type }) => type === 'item:returned');
    await until(() => returned().length > 0, 'the item to be given back');
    expect(returned()).toMatchObject([{ reason: 'the run is paused' }]);
    expect(paused.shift.column('work')).toEqual(['todo']);

    other.release();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await paused.project.run(['resume', 'fleet'])).toMatchObject({ code: 0 });
    expect(await second.ended).toMatchObject({ code: 0 });
    expect([begun(paused), paused.shift.column('work')]).toEqual([1, ['done']]);
    const events = paused.journal().map(({ type }) => type);
    expect(events.indexOf('dev:started')).toBeGreaterThan(events.indexOf('run:resumed'));
    expect(worker.log.match(/: started/g)).toHaveLength(2);
  });
});
