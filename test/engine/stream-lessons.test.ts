import { expect, test } from 'vitest';
import { play } from '../simulation.ts';

test('L5 X7 no dev of a stream begins with Steps that no event has told of yet', async () => {
  let devs = 0;
  const { events } = await play({
    rows: 8,
    settings: { parallel: true, 'current-batch-size': 2, 'max-batch-size': 2, dispatch: 'stream' },
    async perform({ role }) {
      if (role === 'dev') devs++;
      // A slow second dev keeps the stream open while the lesson of the first is written.
      if (role === 'dev' && devs > 1) await new Promise((wake) => setTimeout(wake, 20));
      return { recommendations: role === 'dev' && devs === 1 ? ['Look twice'] : [] };
    },
    manager: { changes: [{ op: 'add', after: 1, text: 'Look twice' }], summary: 'as recommended' },
    // As long as others could begin meanwhile, were they let.
    onStepsWritten: () => new Promise((wake) => setTimeout(wake, 200)),
  });
  const changed = events.findIndex(({ type }) => type === 'steps:changed');
  const begun = events.flatMap(({ type, version }, at) => (type === 'dev:started' ? [{ version, at }] : []));
  const fresh = begun.filter(({ version }) => version === events[changed].to);
  expect(fresh.length).toBeGreaterThan(0);
  expect(fresh.filter(({ at }) => at < changed)).toEqual([]);
});
