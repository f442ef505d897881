import { expect, test } from 'vitest';
import { SEED } from '../crash/loop.ts';
import { describePostgres, startTestPostgres } from '../kit/postgres.ts';
import { figures, Soak } from './soak.ts';

/** The full size is in full/soak.test.ts. */
describePostgres('a fleet whose parts are killed at random', () => {
  test('X9 loses nothing, and records everything once', async () => {
    await using postgres = await startTestPostgres();
    const plan = { rows: 100, seconds: 0.3, workers: 2, slots: 4, seed: SEED, longestMs: 90_000 };
    const acts = { workerKills: 1, coordinatorKills: 3, stops: 0, crashes: 1 };
    const end = await new Soak({ ...plan, acts }, postgres).run();
    console.log(figures(SEED, end));
    expect(end).toMatchObject({ acts, lost: [], recordedTwice: [], changed: [], acceptedBesideAnother: [] });
    expect(end.repeated).toBeLessThanOrEqual(plan.slots * acts.workerKills);
  });
});
