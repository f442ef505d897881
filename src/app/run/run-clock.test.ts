import { expect, test } from 'vitest';
import { RunClock } from './run-clock.ts';

test('X6 time for which a run is held does not count, however often it is said', () => {
  let at = 1000;
  const clock = new RunClock({
    now: () => at,
    elapsed: () => at,
    sleep: async () => true,
    timeout: () => ({ signal: new AbortController().signal, [Symbol.dispose]() {} }),
  });
  at = 1100;
  clock.hold(true);
  at = 1500;
  clock.hold(true);
  expect([clock.elapsed(), clock.now()]).toEqual([1100, 1500]);
  at = 2000;
  clock.hold(false);
  clock.hold(false);
  expect(clock.elapsed()).toBe(1100);
  at = 2050;
  expect(clock.elapsed()).toBe(1150);
});
