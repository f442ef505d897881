import { expect, test } from 'vitest';
import { RunClock } from './run-clock.ts';

test('X6 time for which a run is held does not count', () => {
  let at = 1000;
  const clock = new RunClock({
    now: () => at,
    elapsed: () => at,
    sleep: async () => true,
    timeout: () => ({ signal: new AbortController().signal, [Symbol.dispose]() {} }),
  });
  at = 1100;
  for (const end of [2000, 4000]) {
    const begin = clock.elapsed();
    const held = clock.hold();
    at = end - 100;
    expect([clock.elapsed(), clock.now()]).toEqual([begin, at]);
    at = end;
    held[Symbol.dispose]();
    expect(clock.elapsed()).toBe(begin);
    at += 50;
    expect(clock.elapsed()).toBe(begin + 50);
  }
});
