import { expect, test } from 'vitest';
import { Returns } from './returns.ts';

const BAD = { id: 'bad', task: 'make' };
const GOOD = { id: 'good', task: 'make' };

test('X5 the third time counts only if others were done since the time before', () => {
  const returns = new Returns();
  for (let time = 0; time < 5; time++) returns.givenBack(BAD, returns.done);
  expect(returns.isLastChance(BAD)).toBe(false);
  returns.ended(GOOD, 'failed');
  returns.givenBack(BAD, returns.done);
  expect(returns.isLastChance(BAD)).toBe(false);
  returns.ended(GOOD, 'done');
  returns.givenBack(BAD, returns.done);
  expect(returns.isLastChance(BAD)).toBe(false);
  returns.ended(GOOD, 'done');
  expect(returns.isLastChance(BAD)).toBe(true);
});

test('X5 who was given back gives way until another has ended, and is forgotten when it has ended itself', () => {
  const returns = new Returns();
  returns.givenBack(BAD, 0);
  expect(returns.deferred).toEqual(['bad']);
  returns.ended(GOOD, 'failed');
  expect(returns.deferred).toEqual([]);
  returns.givenBack(BAD, 0);
  returns.ended(BAD, 'done');
  expect(returns.deferred).toEqual([]);
});
