import { expect, it } from 'vitest';
import { compare, differInNumbers, overlap } from './likeness.ts';

it.each([
  ['same', 'Prices are in cents, so divide them by 100.', 'Divide the prices by 100: they are in cents'],
  ['same', 'Weights without a unit are in pounds', 'A weight that has no unit is in pounds'],
  ['same', 'Do not trust the header line', 'Never trust header lines!'],
  ['same', 'Never trust it', 'never  TRUST it.'],
  ['contrary', 'Divide the prices by 100', 'Divide prices by 1000'],
  ['contrary', 'Trust the header line', 'Don’t trust the header line'],
  ['contrary', 'Sort before saving', 'Sort after saving'],
  ['different', 'Write the title in English', 'Write the title in German'],
  ['different', 'Close the window', 'Close the door'],
  ['different', 'Check the status', 'Check the address'],
  ['different', 'This is it', 'They should be there'],
] as const)('L2 %s: %s / %s', (likeness, a, b) => {
  expect([compare(a, b), compare(b, a)]).toEqual([likeness, likeness]);
});

it('L2 measures how much of the shorter text the longer one has', () => {
  expect(overlap('Prices are in cents', 'All prices of the feed come in cents')).toBe(1);
  expect(overlap('Prices are in cents', 'Amounts are in cents')).toBe(0.5);
  expect(overlap('Prices are in cents', 'Send it away')).toBe(0);
});

it('L2 numbers that differ are told from numbers that are missing', () => {
  expect(differInNumbers('by 100', 'by 1000')).toBe(true);
  expect(differInNumbers('by 100', '100 times')).toBe(false);
  expect(differInNumbers('by 100', 'by a hundred')).toBe(false);
});
