import { expect, test } from 'vitest';
import { durationTicks, linear, ticks, timeTicks } from './scale.ts';

test('axes name round values', () => {
  expect(ticks(0, 100_000, 4)).toEqual([0, 50_000, 100_000]);
  expect(ticks(0, 0.3, 4)).toEqual([0, 0.1, 0.2, 0.3]);
  expect(ticks(0, 0, 4)).toEqual([0]);
  expect(durationTicks(0, 7 * 60_000, 4)).toEqual([0, 120_000, 240_000, 360_000]);
});

test('an axis of time names whole hours of the local clock', () => {
  const at = (text: string) => Date.parse(text);
  // India is five and a half hours ahead of UTC.
  const labels = timeTicks(at('2026-11-17T20:10Z'), at('2026-11-18T02:00Z'), 6, -330);
  expect(labels.map((time) => new Date(time).toISOString().slice(11, 16))).toEqual([
    ...['20:30', '21:30', '22:30', '23:30', '00:30', '01:30'],
  ]);
});

test('a scale with one value has no division by zero', () => {
  expect(linear([5, 5], [0, 100]).at(5)).toBe(0);
});
