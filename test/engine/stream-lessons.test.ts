import { expect, test } from 'vitest';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const STREAM = { parallel: true, 'current-batch-size': 2, 'max-batch-size': 2, dispatch: 'stream' };

test('L5 X7 no dev of a stream begins with Steps that no event has told of yet', async () => {
  let devs = 0;
  const shift = new SimulatedShift({
    rows: 8,
    settings: STREAM,
    play: ({ role }) => {
      if (role === 'dev') devs++;
      // A slow second dev keeps the stream open while the lesson of the first is written.
      if (role === 'dev' && devs > 1) return { ms: 20 };
      return role === 'dev' ? { recommendations: ['Look twice'] } : {};
    },
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

test('L8 X7 blame in a stream retires a lesson, also that of items which fail', async () => {
  const shift = new SimulatedShift({
    rows: 12,
    settings: STREAM,
    play: ({ role, item, lessons }) => {
      if (role !== 'dev') return {};
      const votes = (lessons ?? []).map(({ id }) => ({ lesson: id, effect: 'harmed' as const, reason: 'dark' }));
      if (item.index === 0) return { ms: 10, recommendations: ['Look twice'] };
      return { ms: 10, votes, end: votes.length > 0 ? 'fail' : 'pass' };
    },
  });
  const { events } = await shift.run();
  const states = events.flatMap(({ type, to }) => (type === 'lesson:changed' ? [to] : []));
  expect(states).toEqual(['firm', 'retired']);
  expect(shift.lessons).toMatchObject([{ state: 'retired', inSteps: false }]);
  expect(shift.text('make')).not.toContain('Look twice');
  expect(shift.statuses.filter(([status]) => status === 'done').length).toBeGreaterThan(6);
});

test('L8 X7 a vote that comes while a fold is written is counted by the next one', async () => {
  const shift = new SimulatedShift({
    rows: 4,
    settings: STREAM,
    play: ({ role, item, lessons = [] }) => {
      const votes = (effect: 'helped' | 'harmed') =>
        lessons.slice(0, 1).map(({ id }) => ({ lesson: id, effect, reason: '' }));
      const [first, second, third] = [0, 1, 2].map((row) => item.index === row);
      if (first) return { recommendations: role === 'dev' ? ['Look twice'] : [] };
      if (second) return { ms: role === 'dev' ? 300 : 1 };
      // Its dev votes before the last item is folded, its qa while that fold is written.
      if (third) return { ms: 150, votes: votes(role === 'dev' ? 'helped' : 'harmed') };
      return { ms: 49, recommendations: role === 'dev' ? ['Keep the paper dry'] : [] };
    },
    onStepsWritten: (clock) => clock.sleep(200),
  });
  const { events } = await shift.run();
  const voted = events.flatMap(({ votes }, i) => (votes?.length > 0 ? [i] : []));
  const folds = events.flatMap(({ counted }, i) => (counted ? [i] : []));
  expect([voted.length, folds.length]).toEqual([2, 2]);
  expect(voted[1]).toBeLessThan(folds[0]!);
  expect(shift.lessons).toMatchObject([{ blame: [{ row: 3 }], credit: [] }, {}]);
});
