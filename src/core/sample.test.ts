import { expect, test } from 'vitest';
import { sample } from './sample.ts';

const rows = Array.from({ length: 100 }, (_, row) => row * 2);

test('a sample is decided by its seed, holds different candidates in their order, and is never larger than they are', () => {
  const chosen = sample(rows, 10, '1');
  expect(sample(rows, 10, '1')).toEqual(chosen);
  expect(sample(rows, 10, '2')).not.toEqual(chosen);
  expect(new Set(chosen).size).toBe(10);
  expect(chosen.every((row) => rows.includes(row))).toBe(true);
  expect(chosen).toEqual([...chosen].sort((a, b) => a - b));
  expect(sample(rows, 1000, '1')).toEqual(rows);
  expect(sample([], 3, '1')).toEqual([]);
  // A release that chose others would break what people have written down.
  expect(sample(rows, 5, '1')).toEqual([26, 118, 150, 164, 166]);
});

test('over many seeds every candidate is chosen about as often', () => {
  const times = new Array<number>(20).fill(0);
  for (let seed = 0; seed < 4000; seed++) for (const row of sample([...times.keys()], 5, String(seed))) times[row]!++;
  for (const count of times) expect(Math.abs(count - 1000)).toBeLessThan(150);
});
