import { expect, test } from 'vitest';
import { localTime } from './local-time.ts';

const at = (text: string) => new Date(text).getTime();
const NOW = at('2026-11-17T23:50');

test.each([
  ['2026-11-17T23:41', '23:41'],
  ['2026-11-17T00:00', '00:00'],
  ['2026-11-18T03:05', '18 Nov 03:05'],
  ['2026-01-02T07:00', '2 Jan 07:00'],
  ['2025-11-17T23:41', '17 Nov 2025 23:41'],
])('X8 a time for people is local and short: %s is %s', (time, text) => {
  expect(localTime(at(time), NOW)).toBe(text);
  expect(localTime(new Date(time).toISOString(), NOW)).toBe(text);
});

test('X8 a text that is kept has its day and year, and what is no time stays', () => {
  expect(localTime(at('2026-11-17T23:41'))).toBe('17 Nov 2026 23:41');
  expect(localTime('an unknown \u001b[31mtime', NOW)).toBe('an unknown \uFFFD[31mtime');
});
