import { expect, test } from 'vitest';
import { SEED } from '../../crash/loop.ts';
import { describePostgres, startTestPostgres } from '../../kit/postgres.ts';
import { ALL_POINTS, CoordinatorKills, figures } from '../killed-coordinator.ts';

describePostgres('a coordinator that is killed at every failpoint', () => {
  test('X9 nothing runs twice, and what agents cost counts exactly once', async () => {
    await using postgres = await startTestPostgres();
    const end = await new CoordinatorKills({ points: ALL_POINTS, times: 10, rows: 80, seed: SEED }, postgres).run();
    console.log(figures(end, SEED));
    expect(end).toMatchObject({ missed: [], repeated: [], notDone: [], untold: [], counted: end.said });
    expect(end.kills).toBeGreaterThanOrEqual(ALL_POINTS.length * 10);
  });
});
