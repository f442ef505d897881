import { describe, expect, it } from 'vitest';
import { AUTHOR, LearnedSteps, recommend, TASK } from '../../../test/kit/lessons.ts';
import { type GroupingAnswer, needsGrouping, readGrouping } from './grouping.ts';

const CENTS = 'Prices are in cents, so divide them by 100';
const AMOUNTS = 'All amounts come in cents and have to be divided by 100';
const DATES = 'Dates are written day first';

/** Numbered by row: 1 to 4. */
const RECOMMENDATIONS = [
  recommend(4, 'Send each result to the archive'),
  recommend(1, CENTS),
  recommend(3, DATES),
  recommend(2, AMOUNTS),
];

type Group = Partial<GroupingAnswer['lessons'][number]>;

function read(learned: LearnedSteps, ...lessons: Group[]) {
  const answer = {
    lessons: lessons.map((lesson) => ({ text: '', from: [], same_as: null, after: null, ...lesson })),
    summary: '',
  };
  const { book } = learned;
  return readGrouping(answer, { book, task: TASK, recommendations: RECOMMENDATIONS, authorSteps: AUTHOR });
}

function groupsOf(read: ReturnType<typeof readGrouping>) {
  if ('refused' in read) throw new Error(read.refused);
  return read.groups.map(({ members, ...group }) => ({ ...group, rows: members.map(({ row }) => row) }));
}

describe('readGrouping', () => {
  it('L2 unites what the agent puts together, in its words, at its place', () => {
    const learned = new LearnedSteps();
    const text = 'Amounts and prices are in cents: divide them by 100';
    const grouping = read(
      learned,
      { text: `1. ${text}`, from: [1, 2], after: 1 },
      { text: DATES, from: [3], after: 7 },
    );
    expect(groupsOf(grouping)).toEqual([
      { text, rows: [1, 2], after: 1 },
      { text: DATES, rows: [3] },
    ]);
    if ('refused' in grouping) throw new Error(grouping.refused);
    const changes = learned.fold(2, { recommendations: RECOMMENDATIONS, grouping });
    expect(changes).toEqual(['L1 firm', 'L2 waiting', 'L3 waiting']);
    expect(learned.steps).toEqual([AUTHOR[0], text, ...AUTHOR.slice(1)]);
    // The other wording is recognised from now on, without the agent.
    expect(learned.fold(4, { recommendations: [recommend(9, AMOUNTS, 3)] })).toEqual([]);
    expect(learned.lesson('L1').support.map(({ row }) => row)).toEqual([1, 2, 9]);
  });

  it('L2 supports a lesson that is there, whatever text the agent gives', () => {
    const learned = new LearnedSteps();
    learned.fold(1, { recommendations: [recommend(8, CENTS, 0)] });
    expect(groupsOf(read(learned, { text: 'Anything', from: [1, 2], same_as: 'L1' }))).toEqual([
      { text: CENTS, rows: [1, 2], sameAs: 'L1' },
    ]);
  });

  it('L6 uses the plain wording where the text has other words or numbers than the recommendations', () => {
    const learned = new LearnedSteps();
    for (const text of ['Please skip everything that seems hard', 'Prices are in cents, so divide them by 1000', '']) {
      expect(groupsOf(read(learned, { text, from: [1, 2] }))[0]).toMatchObject({ text: CENTS });
    }
  });

  it('L6 a recommendation without a trace in its group leaves it, so that one row alone gets no second voice', () => {
    const learned = new LearnedSteps();
    const grouping = read(learned, { text: 'Send each result to the archive', from: [3, 4] });
    expect(groupsOf(grouping)).toEqual([{ text: 'Send each result to the archive', rows: [4] }]);
    if ('refused' in grouping) throw new Error(grouping.refused);
    learned.fold(2, { recommendations: RECOMMENDATIONS, grouping });
    expect(learned.added).toEqual([]);
  });

  it('L6 contrary recommendations are no group', () => {
    const recommendations = [recommend(1, DATES), recommend(2, `${DATES} never`)];
    const lesson = { text: DATES, from: [1, 2], same_as: null, after: null };
    const context = { book: new LearnedSteps().book, task: TASK, recommendations, authorSteps: AUTHOR };
    expect(groupsOf(readGrouping({ lessons: [lesson], summary: '' }, context))).toEqual([{ text: DATES, rows: [1] }]);
  });

  it.each([
    ['there is no recommendation 5', { from: [5] }],
    ['there is no recommendation 0', { from: [0] }],
    ['there is no recommendation 1.5', { from: [1.5] }],
    ['recommendation 2 is in two lessons', { from: [2, 2] }],
    ['there is no lesson L7', { from: [1], same_as: 'L7' }],
  ])('L6 refuses the whole answer: %s', (refused, group) => {
    expect(read(new LearnedSteps(), { text: DATES, from: [3] }, { text: CENTS, ...group })).toEqual({ refused });
  });
});

describe('needsGrouping', () => {
  const learned = new LearnedSteps();
  learned.fold(2, { recommendations: [recommend(1, CENTS)] });
  it.each([
    ['nothing', [], false, false],
    ['one', [DATES], false, true],
    ['two that are the same', [DATES, 'The dates are written day first'], false, true],
    ['two', [DATES, AMOUNTS], true, true],
    ['what is known', ['Divide prices by 100: they are in cents'], false, false],
  ])('L2 asks the agent for %s only if the measure of likeness is not enough', (_, texts, alone, beside) => {
    const recommendations = texts.map((text, i) => recommend(i + 1, text));
    expect([new LearnedSteps(), learned].map(({ book }) => needsGrouping(book, TASK, recommendations))).toEqual([
      ...[alone, beside],
    ]);
  });
});
