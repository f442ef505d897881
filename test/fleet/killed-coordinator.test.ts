import { expect, test } from 'vitest';
import { SEED } from '../crash/loop.ts';
import { describePostgres, startTestPostgres } from '../kit/postgres.ts';
import { CoordinatorKills, figures, OWN_POINTS } from './killed-coordinator.ts';

describePostgres('a coordinator that is killed at every failpoint', () => {
  test('X9 nothing runs twice, and what agents cost counts exactly once', async () => {
    await using postgres = await startTestPostgres();
    const end = await new CoordinatorKills({ points: OWN_POINTS, times: 1, rows: 40, seed: SEED }, postgres).run();
    console.log(figures(end, SEED));
    expect(end).toMatchObject({ missed: [], repeated: [], notDone: [], untold: [], counted: end.said });
    expect(end.kills).toBeGreaterThanOrEqual(OWN_POINTS.length);
  });
});
