import { expect, test } from 'vitest';
import { SimulatedShift } from '../kit/simulated-shift.ts';
import type { Act } from '../kit/simulated-worker.ts';

/** Fails as a provider with a rate limit does: one request too many is turned away. */
function rateLimited(shift: () => SimulatedShift, most: number): Act {
  const busy = shift().work.filter(({ role, to }) => role === 'dev' && to === undefined).length;
  return { ms: 5, end: busy > most ? { reason: 'rate limit' } : 'pass' };
}

test('X5 X7 a rate limit lowers the concurrency of a stream, with a reason, and nothing fails', async () => {
  const shift = new SimulatedShift({
    rows: 12,
    settings: { parallel: true, 'current-batch-size': 8, 'max-batch-size': 8, dispatch: 'stream' },
    play: ({ role }): Act => (role === 'dev' ? rateLimited(() => shift, 4) : {}),
  });
  const { end, events } = await shift.run();
  expect(end?.exitCode).toBe(0);
  const changes = events.filter(({ type }) => type === 'concurrency:changed');
  expect(changes[0]).toMatchObject({ from: 8, to: 4, reason: '1 given back: rate limit' });
  expect(shift.statuses).toEqual(Array(12).fill(['done']));
});
