import { expect, it } from 'vitest';
import { AUTHOR, harmed, LearnedSteps, minute, recommend, TASK } from '../../../test/kit/lessons.ts';
import { addLesson, adoptLesson, type Decision, decide, type PersonsVerb } from './by-person.ts';
import type { LessonState } from './lesson.ts';

const CENTS = 'Prices are in cents, so divide them by 100';

function inState(state: LessonState): LearnedSteps {
  const learned = new LearnedSteps();
  const screen = () => (state === 'held' ? 'names a host' : undefined);
  const rows = state === 'waiting' || state === 'held' ? [1] : [1, 2];
  learned.fold(2, { screen, recommendations: rows.map((row) => recommend(row, CENTS)) });
  if (state === 'retired') learned.fold(4, { votes: [harmed(3, 'L1', 3), harmed(4, 'L1', 3)] });
  if (state === 'pinned') apply(learned, 'pin', 5);
  if (state === 'banned') apply(learned, 'ban', 5);
  expect(learned.lesson('L1').state).toBe(state);
  return learned;
}

function apply(learned: LearnedSteps, verb: PersonsVerb, now: number): string {
  const decision = decide(learned.book, verb, 'L1', { now: minute(now) });
  if ('refused' in decision) return decision.refused;
  learned.book = decision.book;
  learned.reconcile(now);
  return decision.change.to;
}

it.each([
  ['accept', 'waiting', 'firm'],
  ['accept', 'held', 'firm'],
  ['accept', 'retired', 'firm'],
  ['accept', 'firm', 'lesson L1 is already firm'],
  ['accept', 'pinned', 'lesson L1 is already in the Steps'],
  ['accept', 'banned', 'lesson L1 is banned; undo that first'],
  ['reject', 'waiting', 'banned'],
  ['reject', 'held', 'banned'],
  ['reject', 'firm', 'lesson L1 is in the Steps; ban it to remove it'],
  ['reject', 'banned', 'lesson L1 is already banned'],
  ['pin', 'firm', 'pinned'],
  ['pin', 'held', 'pinned'],
  ['pin', 'banned', 'lesson L1 is banned; undo that first'],
  ['ban', 'pinned', 'banned'],
  ['ban', 'firm', 'banned'],
  ['ban', 'retired', 'banned'],
] as const)('L10 %s a %s lesson: %s', (verb, state, result) => {
  const learned = inState(state);
  expect(apply(learned, verb, 10)).toBe(result);
  const isIn = ['firm', 'pinned'].includes(learned.lesson('L1').state);
  expect(learned.steps).toEqual(isIn ? [...AUTHOR, CENTS] : AUTHOR);
});

it('L10 says who decided, and why', () => {
  const learned = inState('held');
  expect(decide(learned.book, 'ban', 'L9', { now: minute(9) })).toEqual({ refused: 'there is no lesson L9' });
  apply(learned, 'accept', 10);
  expect(learned.lesson('L1')).toMatchObject({ by: 'person', previous: { state: 'held', reason: 'names a host' } });
  expect(learned.lesson('L1').reason).toBeUndefined();
  expect(decide(learned.book, 'ban', 'L1', { now: minute(11), reason: 'it is wrong' })).toMatchObject({
    change: { id: 'L1', task: TASK, text: CENTS, from: 'firm', to: 'banned', reason: 'it is wrong' },
  });
});

it('L10 undo goes back to the state before, and its undo forth again', () => {
  const learned = inState('held');
  expect(apply(learned, 'undo', 9)).toBe('lesson L1 has no earlier state');
  apply(learned, 'accept', 10);
  expect(apply(learned, 'undo', 11)).toBe('held');
  expect(learned.lesson('L1')).toMatchObject({ reason: 'names a host', inSteps: false });
  expect(apply(learned, 'undo', 12)).toBe('firm');
  expect(learned.added).toEqual([CENTS]);
});

it('L10 a lesson whose admission is undone needs fresh rows, and one that a person deleted can be taken back', () => {
  const learned = inState('firm');
  expect(apply(learned, 'undo', 10)).toBe('waiting');
  expect(learned.fold(12, { mode: 'eager', recommendations: [recommend(3, CENTS, 11)] })).toEqual([]);
  expect(learned.fold(14, { recommendations: [recommend(4, CENTS, 13)] })).toEqual(['L1 waiting -> firm']);
  learned.steps = AUTHOR;
  learned.reconcile(15);
  expect(apply(learned, 'undo', 16)).toBe('firm');
  expect(learned.added).toEqual([CENTS]);
});

it('L10 adds a lesson of a person, and one of another shift that waits', () => {
  const learned = inState('waiting');
  const lesson = (text: string) => ({ task: TASK, text, now: minute(9), authorSteps: AUTHOR });
  const added = addLesson(learned.book, lesson(' 4. Dates are written\n day first '));
  expect(record(added)).toMatchObject({
    ...{ id: 'L2', text: 'Dates are written day first', state: 'firm', by: 'person', inSteps: false },
  });
  const adopted = adoptLesson(learned.book, { ...lesson('Names come last'), from: 'spring' });
  expect(record(adopted)).toMatchObject({ id: 'L2', state: 'waiting', from: 'spring', support: [] });
  const refusals = ['', 'Divide prices by 100: they are in cents', 'Write down its title!'];
  expect(refusals.map((text) => addLesson(learned.book, lesson(text)))).toEqual([
    { refused: 'the lesson has no text' },
    { refused: `lesson L1 (waiting) already says that: ${CENTS}` },
    { refused: 'the Steps already say that' },
  ]);
});

function record(decision: Decision) {
  if ('refused' in decision) throw new Error(decision.refused);
  return decision.book.lessons.at(-1);
}
