import { expect, test } from 'vitest';
import type { ReportedVote } from '../model/events.ts';
import { votesIn } from './votes.ts';

const order = {
  lessons: [
    { id: 'L1', step: 2, text: 'Knock' },
    { id: 'L4', step: 3, text: 'Wait' },
  ],
};
const vote = (lesson: string, effect: ReportedVote['effect'], reason = ''): ReportedVote => ({
  lesson,
  effect,
  reason,
});

test('L2 a report votes on the lessons that it was given, and on no others', () => {
  const votes = [vote('L1', 'helped'), vote('L4', 'harmed', 'too slow'), vote('L9', 'harmed')];
  expect(votesIn(order, { status: 'SUCCESS', votes })).toEqual(votes.slice(0, 2));
  expect(votesIn({}, { status: 'FAILED (step 2)', votes })).toEqual([]);
  const both = [vote('L1', 'helped'), vote('L1', 'harmed', 'in the end')];
  expect(votesIn(order, { status: 'SUCCESS', votes: both })).toEqual(both.slice(1));
});

test('L2 a failure at the step of a lesson counts against it, whatever the report says of it', () => {
  const failed = (step: number, ...votes: ReportedVote[]) =>
    votesIn(order, { status: `FAILED (step ${step})`, reason: 'no door', votes });
  expect(failed(3)).toEqual([vote('L4', 'harmed', 'no door')]);
  expect(failed(3, vote('L4', 'helped'), vote('L1', 'helped'))).toEqual([
    vote('L1', 'helped'),
    vote('L4', 'harmed', 'no door'),
  ]);
  expect(failed(3, vote('L4', 'harmed', 'own words'))).toEqual([vote('L4', 'harmed', 'own words')]);
  expect(failed(1)).toEqual([]);
});
