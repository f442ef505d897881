import { expect, test } from 'vitest';
import { scrollToShow, visibleRange } from './visible-range.ts';

test('a window of a long table draws what is visible and a few rows more, however long it is', () => {
  expect(visibleRange({ top: 0, height: 280 }, 28, 100_000)).toEqual({ first: 0, end: 18 });
  expect(visibleRange({ top: 28_000, height: 280 }, 28, 100_000)).toEqual({ first: 992, end: 1018 });
  expect(visibleRange({ top: 100_000 * 28 - 280, height: 280 }, 28, 100_000)).toEqual({ first: 99_982, end: 100_000 });
});

test('a window above the first row, or of a table that became shorter, is not outside of the table', () => {
  expect(visibleRange({ top: -500, height: 700 }, 28, 100)).toEqual({ first: 0, end: 16 });
  expect(visibleRange({ top: -5000, height: 700 }, 28, 100)).toEqual({ first: 0, end: 0 });
  expect(visibleRange({ top: 28_000, height: 280 }, 28, 3)).toEqual({ first: 3, end: 3 });
  expect(visibleRange({ top: 0, height: 280 }, 28, 0)).toEqual({ first: 0, end: 0 });
});

test('the page scrolls just as far as needed to show a row', () => {
  const view = { top: 280, height: 280 };
  expect(scrollToShow(10, 28, view)).toBe(0);
  expect(scrollToShow(19, 28, view)).toBe(0);
  expect(scrollToShow(20, 28, view)).toBe(28);
  expect(scrollToShow(9, 28, view)).toBe(-28);
});
