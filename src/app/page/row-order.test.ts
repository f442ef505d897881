import { describe, expect, test } from 'vitest';
import { orderByNumber, orderByText } from './row-order.ts';

const NONE = Number.NaN;

describe('the order of rows', () => {
  test.each([
    [[3, 1, 2], false, [1, 2, 0]],
    [[3, 1, 2], true, [0, 2, 1]],
    // Equal rows keep their order, and those without a number come last, in both directions.
    [[2, NONE, 1, 2, NONE, 1], false, [2, 5, 0, 3, 1, 4]],
    [[2, NONE, 1, 2, NONE, 1], true, [0, 3, 2, 5, 1, 4]],
    [[-1, 0, -0.5, 1e9], false, [0, 2, 1, 3]],
    [[], false, []],
    [[NONE], true, [0]],
  ])('X8 of %j, descending: %s', (numbers, isDescending, rows) => {
    expect([...orderByNumber(Float64Array.from(numbers), isDescending)]).toEqual(rows);
  });

  test.each([
    [['10', '9', '', '1.5'], false, [3, 1, 0, 2]],
    [['b', 'A', 'a', '', 'C'], false, [1, 2, 0, 4, 3]],
    [['b', 'A', 'a', '', 'C'], true, [4, 0, 1, 2, 3]],
    // One that is no number makes all of them texts.
    [['10', '9', 'x'], false, [0, 1, 2]],
  ])('X8 of texts %j, descending: %s', (texts, isDescending, rows) => {
    expect([...orderByText(texts, isDescending)]).toEqual(rows);
  });
});
