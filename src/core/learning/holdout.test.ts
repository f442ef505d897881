import { expect, it } from 'vitest';
import { firstAttemptsByHoldout, firstAttemptsByTenth } from './first-attempts.ts';
import { differenceOf, isHeldOut } from './holdout.ts';

it('L11 holds out the same share of rows in every run; a larger share holds a smaller one', () => {
  const items = Array.from({ length: 20_000 }, (_, i) => `item-${i}`);
  const [small, large] = [0.05, 0.2].map((share) => items.filter((item) => isHeldOut(item, share)));
  expect(small!.length / items.length).toBeCloseTo(0.05, 2);
  expect(large!.length / items.length).toBeCloseTo(0.2, 2);
  expect(small!.every((item) => large!.includes(item))).toBe(true);
  expect(items.some((item) => isHeldOut(item, 0))).toBe(false);
  expect(items.every((item) => isHeldOut(item, 1))).toBe(true);
});

it.each([
  // Newcombe, Statistics in Medicine 17 (1998), table II, method 10.
  [
    [56, 70],
    [48, 80],
    [0.2, 0.0524, 0.3339],
  ],
  [
    [9, 10],
    [3, 10],
    [0.6, 0.1705, 0.809],
  ],
  [
    [5, 56],
    [0, 29],
    [0.0893, -0.0381, 0.1926],
  ],
  [
    [10, 10],
    [0, 10],
    [1, 0.6075, 1],
  ],
] as const)('L11 the difference of %j and %j has the interval of Newcombe: %j', (a, b, [difference, low, high]) => {
  const successes = ([succeeded, of]: readonly [number, number]) => ({ succeeded, of });
  const found = differenceOf(successes(a), successes(b))!;
  expect(found.difference).toBeCloseTo(difference, 4);
  expect(found.low).toBeCloseTo(low, 4);
  expect(found.high).toBeCloseTo(high, 4);
});

it('L11 without rows there is no difference', () => {
  expect(differenceOf({ of: 0, succeeded: 0 }, { of: 5, succeeded: 3 })).toBeUndefined();
});

it('L11 counts success on the first attempt by tenth of the table and by holdout', () => {
  const ended = [
    { index: 0, done: true, attempts: 2 },
    { index: 1, done: true, attempts: 1 },
    { index: 2, done: false, attempts: 1 },
    { index: 24, done: true, attempts: 1 },
  ];
  const tenths = firstAttemptsByTenth(25, ended);
  expect(tenths.map(({ of, succeeded }) => `${succeeded}/${of}`).join(' ')).toBe(
    '1/3 0/0 0/0 0/0 0/0 0/0 0/0 0/0 0/0 1/1',
  );
  expect(firstAttemptsByHoldout(ended, ({ index }) => index > 1)).toEqual({
    given: { of: 2, succeeded: 1 },
    heldOut: { of: 2, succeeded: 1 },
  });
});
