import { expect, test } from 'vitest';
import { Patience } from './patience.ts';

test('X5 pauses grow; they end when trouble has lasted, not when an item was worked on for long', () => {
  let now = 0;
  const patience = new Patience(() => now);
  now = 60 * 60_000;
  expect(patience.pause(5000)).toBe(1000);
  now += 1000;
  expect(patience.pause(5000)).toBe(2000);
  patience.progress();
  expect(patience.pause(5000)).toBe(1000);
  now += 5000;
  expect(patience.pause(5000)).toBeUndefined();
});
