import { expect, test } from 'vitest';
import { DISPATCHES } from './crash-shift.ts';
import { failpointsOf } from './kill.ts';
import { Plan, type PlannedAttack } from './plan.ts';

function attacks(seed: number, lane: number, count: number): PlannedAttack[] {
  const plan = new Plan(seed, lane);
  return Array.from({ length: count }, () => plan.next());
}

test('R1 the same seed plans the same kills, and another seed or lane plans others', () => {
  const plan = attacks(4711, 0, 200);
  expect(attacks(4711, 0, 200)).toEqual(plan);
  expect(attacks(4711, 1, 200)).not.toEqual(plan);
  expect(attacks(4713, 0, 200)).not.toEqual(plan);
});

test('R1 a plan comes to every failpoint in batches and in streams before it repeats one', () => {
  const plan = attacks(1, 2, 400);
  for (const dispatch of DISPATCHES) {
    const own = plan.filter((attack) => attack.dispatch === dispatch);
    const named = own.flatMap(({ moment }) => (moment.kind === 'failpoint' ? [moment.name] : []));
    const points = failpointsOf(dispatch).sort();
    expect(named.slice(0, points.length).sort()).toEqual(points);
    expect(named.length).toBeLessThan(own.length);
  }
});

test('R1 a plan chooses among the failpoints that are still missing', () => {
  const plan = new Plan(1, 0);
  const missing = ['batch run:started', 'batch progress', 'stream run:finished'];
  for (let i = 0; i < 20; i++) {
    const { dispatch, point, moment, victim } = plan.next((points) => points.filter((each) => missing.includes(each)));
    expect(missing).toContain(point);
    expect([point, moment]).toMatchObject([`${dispatch} ${(moment as { name: string }).name}`, { kind: 'failpoint' }]);
    expect(victim).toBe('alone');
  }
});
