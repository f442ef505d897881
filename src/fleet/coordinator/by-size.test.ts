import { expect, test } from 'vitest';
import { bySize } from './by-size.ts';

test('groups are in order and as large as allowed; what is larger is alone', () => {
  const own = (each: number) => each;
  expect(bySize([], 10, own)).toEqual([]);
  expect(bySize([4, 6, 1, 20, 9, 1, 1], 10, own)).toEqual([[4, 6], [1], [20], [9, 1], [1]]);
});
