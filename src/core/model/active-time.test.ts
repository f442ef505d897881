import { expect, test } from 'vitest';
import { ActiveTimeCount } from './active-time.ts';

const reading = (at: number, busy: number, countsWaiting = true) => ({ at, busy, countsWaiting });

test('X6 a process that was stopped, or whose machine slept, has not used that time', () => {
  const count = new ActiveTimeCount(reading(1000, 50));
  expect(count.add(reading(1250, 51))).toBe(250);
  expect(count.at(1300)).toBe(300);
  expect(count.at(9000)).toBeUndefined();
  // An hour, and next to nothing done in it.
  expect(count.add(reading(1250 + 3600_000, 61))).toBe(250 + 250 + 10);
  expect(count.add(reading(1500 + 3600_000, 62))).toBe(250 + 260 + 250);
});

test('X6 a process that worked, or waited for a processor, has used it', () => {
  const count = new ActiveTimeCount(reading(0, 0));
  expect(count.add(reading(60_000, 59_900))).toBe(60_000);
  expect(count.add(reading(70_000, 65_000))).toBe(60_000 + 250 + 5100);
});

test('X6 where waiting is not counted, a gap counts for two seconds, and never for more than it was', () => {
  const count = new ActiveTimeCount(reading(0, 0, false));
  expect(count.add(reading(1500, 0, false))).toBe(1500);
  expect(count.add(reading(61_500, 10, false))).toBe(1500 + 2010);
  expect(count.add(reading(61_400, 10, false))).toBe(3510);
});
