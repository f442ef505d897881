import { expect, test } from 'vitest';
import { rest, sum } from './usage.ts';

test('X6 amounts of money add up without the noise of binary fractions, down to a billionth of a dollar', () => {
  const cents = [0.1, 0.2, 0.7].map((costUsd) => ({ costUsd }));
  expect(cents.slice(0, 2).reduce(sum, {})).toEqual({ costUsd: 0.3 });
  expect(cents.reduce(sum, {})).toEqual({ costUsd: 1 });
  expect(rest({ costUsd: 0.3 }, { costUsd: 0.1 })).toEqual({ costUsd: 0.2 });
  expect(sum({ costUsd: 0.000000001 }, { costUsd: 0.000000002 })).toEqual({ costUsd: 0.000000003 });
});
