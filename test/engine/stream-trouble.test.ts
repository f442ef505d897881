import { expect, test } from 'vitest';
import { play } from '../simulation.ts';

/** Fails as a provider with a rate limit does: whoever is one too many is turned away. */
function rateLimited(most: number): () => Promise<object> {
  let busy = 0;
  return async () => {
    const isTooMany = busy >= most;
    busy++;
    await new Promise((wake) => setTimeout(wake, 5));
    busy--;
    return isTooMany ? { to: undefined, trouble: { reason: 'rate limit' } } : {};
  };
}

test('X5 X7 a rate limit lowers the concurrency of a stream, with a reason, and nothing fails', async () => {
  const limited = rateLimited(4);
  const { end, events, store } = await play({
    rows: 12,
    settings: { parallel: true, 'current-batch-size': 8, 'max-batch-size': 8, dispatch: 'stream' },
    perform: (order) => (order.role === 'dev' ? limited() : Promise.resolve({})),
  });
  expect(end.exitCode).toBe(0);
  const changes = events.filter(({ type }) => type === 'limit:changed');
  expect(changes[0]).toMatchObject({ from: 8, to: 4, reason: '1 given back: rate limit' });
  expect([...(await store.snapshot()).columns[0]!]).toEqual(Array(12).fill(3));
});
