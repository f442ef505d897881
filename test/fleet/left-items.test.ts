import { expect, test } from 'vitest';
import { until } from '../harness.ts';
import { readAgentRuns, witnessTask } from './agent-runs.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';
import { describeFleet } from './fleet-postgres.ts';

const ROWS = 3;

describeFleet('items that a killed coordinator left with workers', (postgres) => {
  test('`doctor` says so, and `doctor --fix` and a dry run leave them alone', async () => {
    const site = new FleetSite({
      postgres,
      table: tableOf(ROWS, ['work'], ['by']),
      tasks: (witness) => ({ work: witnessTask(witness, 'while-held') }),
      settings: { 'current-batch-size': ROWS },
    });
    site.hold();
    site.worker('w1', { slots: ROWS });
    const coordinator = site.coordinator();
    await until(() => readAgentRuns(site.witness).length === ROWS, 'all agents');
    await coordinator.kill();

    const doctor = site.command(['doctor', '--fix']);
    await doctor.ended;
    expect(doctor.log).toContain('workers of a fleet may still be working on 3 items');
    expect(doctor.log).toContain('`nightshift start fleet --fleet env` adopts them');
    expect(doctor.log).not.toContain('given back');
    expect(site.shift.column('work')).toEqual(Array(ROWS).fill('in_progress'));
    const plain = site.command(['start', 'fleet', '--plain']);
    expect((await plain.ended).code).toBe(2);
    const dry = site.command(['start', 'fleet', '--fleet', 'env', '--dry-run']);
    await dry.ended;
    expect(dry.log).toContain('would adopt 3 items that workers may still be running');

    site.release();
    expect((await site.coordinator().ended).code).toBe(0);
    expect(readAgentRuns(site.witness)).toHaveLength(ROWS);
  });
});
