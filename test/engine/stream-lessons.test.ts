import { expect, test } from 'vitest';
import { SimulatedShift } from '../kit/simulated-shift.ts';

test('L5 X7 no dev of a stream begins with Steps that no event has told of yet', async () => {
  let devs = 0;
  const shift = new SimulatedShift({
    rows: 8,
    settings: { parallel: true, 'current-batch-size': 2, 'max-batch-size': 2, dispatch: 'stream' },
    play: ({ role }) => {
      if (role === 'dev') devs++;
      // A slow second dev keeps the stream open while the lesson of the first is written.
      if (role === 'dev' && devs > 1) return { ms: 20 };
      return role === 'dev' ? { recommendations: ['Look twice'] } : {};
    },
    manager: { changes: [{ op: 'add', after: 1, text: 'Look twice' }], summary: 'as recommended' },
    // As long as others could begin meanwhile, were they let.
    onStepsWritten: (clock) => clock.sleep(200),
  });
  const { events } = await shift.run();
  const changed = events.findIndex(({ type }) => type === 'steps:changed');
  const begun = events.flatMap(({ type, version }, at) => (type === 'dev:started' ? [{ version, at }] : []));
  const fresh = begun.filter(({ version }) => version === events[changed].to);
  expect(fresh.length).toBeGreaterThan(0);
  expect(fresh.filter(({ at }) => at < changed)).toEqual([]);
});
