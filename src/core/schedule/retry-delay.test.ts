import { expect, test } from 'vitest';
import { retryDelay } from './retry-delay.ts';

test('X1 the delay between attempts doubles, is jittered around that, and has an end', () => {
  expect([1, 2, 3].map((retry) => retryDelay(1000, retry, 0.5))).toEqual([1000, 2000, 4000]);
  expect([0, 1].map((random) => retryDelay(1000, 2, random))).toEqual([1000, 3000]);
  expect(retryDelay(60_000, 9, 0.5)).toBe(3_600_000);
  expect(retryDelay(0, 3, 0.9)).toBe(0);
});
