import { expect, test } from 'vitest';
import { SEED } from '../../crash/loop.ts';
import { describePostgres, startTestPostgres } from '../../kit/postgres.ts';
import { figures, Soak } from '../soak.ts';

describePostgres('a fleet whose parts are killed at random', () => {
  test('X9 loses nothing of 2,000 orders, and records everything once', async () => {
    await using postgres = await startTestPostgres();
    const plan = { rows: 2000, seconds: 0.7, workers: 4, slots: 8, seed: SEED, longestMs: 20 * 60_000 };
    const acts = { workerKills: 50, coordinatorKills: 50, stops: 5, crashes: 5 };
    console.log(`NIGHTSHIFT_SEED=${SEED} plans the same kills`);
    const end = await new Soak({ ...plan, acts }, postgres).run();
    console.log(figures(SEED, end), end.exits);
    expect(end).toMatchObject({ acts, lost: [], recordedTwice: [], changed: [], acceptedBesideAnother: [] });
    expect(end.repeated).toBeLessThanOrEqual(plan.slots * (acts.workerKills + acts.stops));
  });
});
