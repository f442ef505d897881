import { describe, expect, it } from 'vitest';
import { AUTHOR, LearnedSteps, minute, recommend, TASK } from '../../../test/kit/lessons.ts';
import { authorSteps, lessonsIn, reconcile } from './in-steps.ts';
import type { LessonRecord } from './lesson.ts';

const CENTS = 'Prices are in cents, so divide them by 100';
const DATES = 'Dates are written day first';

function learnedOf(...texts: string[]): LearnedSteps {
  const learned = new LearnedSteps();
  const recommendations = texts.map((text, i) => recommend(i + 1, text));
  learned.fold(2, { mode: 'eager', grouping: { groups: [] }, recommendations });
  return learned;
}

const alter = (learned: LearnedSteps, id: string, change: Partial<LessonRecord>): void => {
  const lessons = learned.book.lessons.map((lesson) => (lesson.id === id ? { ...lesson, ...change } : lesson));
  learned.book = { ...learned.book, lessons };
};

describe('what a person edits', () => {
  it('L10 a lesson that a person deleted is banned, and does not come back', () => {
    const learned = learnedOf(CENTS, DATES);
    learned.steps = [...AUTHOR, DATES];
    learned.reconcile(3);
    expect(learned.lesson('L1')).toMatchObject({
      ...{ state: 'banned', reason: 'removed from the Steps by a person', inSteps: false, since: minute(3) },
      previous: { state: 'firm' },
    });
    learned.fold(5, { recommendations: [4, 5, 6].map((row) => recommend(row, CENTS, 4)) });
    expect(learned.steps).toEqual([...AUTHOR, DATES]);
  });

  it('L10 the wording of a person becomes that of the lesson, and its place stays', () => {
    const learned = learnedOf(CENTS, DATES);
    const steps = [AUTHOR[0]!, 'Divide the prices by 100, they are in cents!', AUTHOR[1]!, AUTHOR[2]!, DATES];
    learned.steps = steps;
    learned.reconcile(3);
    expect(learned.steps).toEqual(steps);
    expect(learned.lesson('L1')).toMatchObject({ state: 'firm', text: steps[1], inSteps: true });
    expect(lessonsIn(learned.book, TASK, steps).map(({ id, step }) => `${id}: step ${step}`)).toEqual([
      ...['L1: step 2', 'L2: step 5'],
    ]);
    expect(authorSteps(learned.book, TASK, steps)).toEqual(AUTHOR);
  });

  it.each(['waiting', 'held', 'retired', 'banned'] as const)(
    'L10 a %s lesson that a person puts there is pinned',
    (state) => {
      const learned = new LearnedSteps();
      learned.fold(2, { recommendations: [recommend(1, CENTS)] });
      alter(learned, 'L1', { state });
      learned.steps = [CENTS, ...AUTHOR];
      learned.reconcile(3);
      expect(learned.lesson('L1')).toMatchObject({ state: 'pinned', by: 'person', inSteps: true });
      expect(learned.steps).toEqual([CENTS, ...AUTHOR]);
    },
  );

  it('L10 steps of the author that change are no lessons, and lessons of another task are left alone', () => {
    const learned = learnedOf(CENTS);
    alter(learned, 'L1', { task: 'other' });
    learned.steps = ['Something else', AUTHOR[0]!];
    const before = structuredClone(learned.book);
    learned.reconcile(3);
    expect([learned.book, learned.steps]).toEqual([before, ['Something else', AUTHOR[0]]]);
  });
});

describe('what a crash left', () => {
  it.each([
    ['firm', false, false, 'firm', true],
    ['firm', false, true, 'firm', true],
    ['pinned', false, false, 'pinned', true],
    ['retired', true, true, 'retired', false],
    ['retired', true, false, 'retired', false],
    ['banned', true, true, 'banned', false],
    ['waiting', true, true, 'waiting', false],
  ] as const)(
    'L10 %s, written: %s, in the Steps: %s -> %s, in the Steps: %s',
    (state, inSteps, isThere, after, isIn) => {
      const learned = learnedOf(CENTS, DATES);
      alter(learned, 'L1', { state, inSteps });
      learned.steps = isThere ? [...AUTHOR, CENTS, DATES] : [...AUTHOR, DATES];
      learned.reconcile(3);
      expect(learned.lesson('L1')).toMatchObject({ state: after, inSteps: isIn });
      expect(learned.added.toSorted()).toEqual(isIn ? [DATES, CENTS] : [DATES]);
      const settled = [learned.book, learned.steps];
      learned.reconcile(4);
      expect([learned.book, learned.steps]).toEqual(settled);
    },
  );

  it('L10 a lesson comes after its step of the author, behind the lessons that are there', () => {
    const learned = new LearnedSteps();
    const group = (row: number, text: string, step?: number) => ({
      ...{ text, members: [recommend(row, text)] },
      ...(step === undefined ? {} : { after: step }),
    });
    const groups = [group(1, CENTS, 1), group(2, DATES), group(3, 'Knock first', 0), group(4, 'Breathe twice', 1)];
    const recommendations = groups.flatMap(({ members }) => members);
    learned.fold(2, { mode: 'eager', recommendations, grouping: { groups } });
    expect(learned.steps).toEqual([
      ...['Knock first', AUTHOR[0], CENTS, 'Breathe twice'],
      ...[AUTHOR[1], AUTHOR[2], DATES],
    ]);
  });
});

it('L10 white space that changes on the way through the file changes nothing', () => {
  const learned = learnedOf(CENTS);
  const steps = [...AUTHOR, CENTS.replace(', ', ',\n   ')];
  const { book, changes } = reconcile(learned.book, { task: TASK, steps, now: minute(3) });
  expect([book, changes]).toEqual([learned.book, []]);
});
