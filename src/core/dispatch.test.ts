import { expect, test } from 'vitest';
import { adaptSize, startSize } from './dispatch.ts';

const result = (done: number, failed = 0, returned = 0) => ({ done, failed, returned });

test('P1 P2 the first size: 2, or what is set, and never above the cap', () => {
  expect(startSize({})).toBe(2);
  expect(startSize({ batchSize: 7 })).toBe(7);
  expect(startSize({ batchSize: 7, maxBatchSize: 3 })).toBe(3);
  expect(startSize({ maxBatchSize: 1 })).toBe(1);
});

test.each([
  ['all done, also of a shorter batch: doubles', 6, result(1), undefined, 12],
  ['at the cap: stays', 6, result(6), 6, 6],
  ['near the cap: reaches it', 5, result(5), 8, 8],
  ['one failed of many: halves, rounded down', 7, result(6, 1), undefined, 3],
  ['failed at 1: stays at 1', 1, result(0, 1), undefined, 1],
  ['failed and given back: halves', 8, result(3, 1, 4), undefined, 4],
  ['one given back: never doubles', 4, result(3, 0, 1), undefined, 4],
  ['nothing done: stays', 4, result(0), undefined, 4],
  ['a cap that was lowered meanwhile', 16, result(15, 1), 3, 3],
  ['doubling for ever stays a number that can be written', 2 ** 30, result(1), undefined, 2 ** 30],
])('P2 %s', (_, size, end, max, to) => {
  const adapted = adaptSize(size, end, max);
  expect(adapted.to).toBe(to);
  expect(adapted.reason).not.toBe('');
});
