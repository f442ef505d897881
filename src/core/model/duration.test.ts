import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['1h30m', 5_400_000],
  ['1.5h', 5_400_000],
  ['500ms', 500],
  ['45', 45_000],
  [' 2h ', 7_200_000],
  // A timer in Node that is longer fires at once.
  ['1000d', 2 ** 31 - 1],
])('X1 %s is a time', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '0', '0s', '-5s', 'soon', '5 minutes', 's', '1e3s', 'h2', '∞'])('X1 %j is none', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test('times for people', () => {
  expect([400, 9_949, 12_000, 59_400, 200_000, 7_500_000].map(formatDuration)).toEqual([
    '0.4s',
    '9.9s',
    '12s',
    '59s',
    '3m 20s',
    '2h 5m',
  ]);
});
