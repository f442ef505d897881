import { expect, test } from 'vitest';
import { sample } from './sample.ts';

const rows = Array.from({ length: 100 }, (_, row) => row * 2);
const draw = (from: readonly number[], size: number, seed = '1') => sample(from, size, seed, String);

test('a sample is decided by its seed, holds different candidates in their order, and is never larger than they are', () => {
  const chosen = draw(rows, 10);
  expect(draw(rows, 10)).toEqual(chosen);
  expect(draw(rows, 10, '2')).not.toEqual(chosen);
  expect(new Set(chosen).size).toBe(10);
  expect(chosen.every((row) => rows.includes(row))).toBe(true);
  expect(chosen).toEqual([...chosen].sort((a, b) => a - b));
  expect(draw(rows, 100)).toEqual(rows);
  expect(draw(rows, 1000)).toEqual(rows);
  expect(draw([], 3)).toEqual([]);
  // Even if all had the same lot.
  expect(sample(rows, 3, '1', () => 'same')).toEqual([0, 2, 4]);
  // A release that chose others would break what people have written down.
  expect(draw(rows, 5)).toEqual([22, 36, 124, 132, 180]);
});

test('T7 a sample goes by who the candidates are: others, their order and a larger size change as little as can be', () => {
  const chosen = draw(rows, 10);
  const others = rows.filter((row) => !chosen.includes(row));
  // One that was not chosen goes: nothing changes. One that was goes: one moves up.
  for (const gone of others) {
    expect(
      draw(
        rows.filter((row) => row !== gone),
        10,
      ),
    ).toEqual(chosen);
  }
  for (const gone of chosen) {
    const next = draw(
      rows.filter((row) => row !== gone),
      10,
    );
    expect(next.filter((row) => chosen.includes(row))).toEqual(chosen.filter((row) => row !== gone));
    expect(next).toHaveLength(10);
  }
  // One that comes takes the place of one at most.
  let taken = 0;
  for (let added = 1; added < 200; added += 2) {
    const next = draw([...rows, added], 10);
    const kept = next.filter((row) => chosen.includes(row)).length;
    expect(kept).toBe(next.includes(added) ? 9 : 10);
    taken += next.includes(added) ? 1 : 0;
  }
  expect(taken).toBeGreaterThan(0);
  expect(draw(rows.toReversed(), 10)).toEqual(chosen.toReversed());
  for (let size = 1; size < 100; size++) expect(draw(rows, size + 1)).toEqual(expect.arrayContaining(draw(rows, size)));
});

test('over many seeds every candidate is chosen about as often, and every pair', () => {
  const times = new Array<number>(20).fill(0);
  const pairs = new Map<string, number>();
  for (let seed = 0; seed < 4000; seed++) {
    const chosen = draw([...times.keys()], 5, String(seed));
    for (const [i, row] of chosen.entries()) {
      times[row]!++;
      for (const other of chosen.slice(i + 1)) pairs.set(`${row} ${other}`, (pairs.get(`${row} ${other}`) ?? 0) + 1);
    }
  }
  for (const count of times) expect(Math.abs(count - 1000)).toBeLessThan(150);
  expect(pairs.size).toBe(190);
  // About 210 each.
  for (const count of pairs.values()) expect(Math.abs(count - 210)).toBeLessThan(75);
});
