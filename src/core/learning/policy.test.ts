import { describe, expect, it } from 'vitest';
import { AUTHOR, harmed, helped, LearnedSteps, minute, recommend, TASK } from '../../../test/kit/lessons.ts';
import { decide } from './by-person.ts';

const CENTS = 'Prices are in cents, so divide them by 100';
const CENTS_AGAIN = 'Divide prices by 100: they are in cents.';
const DATES = 'Dates are written day first';
const NAMES = 'Names with a comma have the surname first';

describe('admission', () => {
  it('L7 careful: a lesson waits for a second row, in whatever words, and keeps its origin', () => {
    const learned = new LearnedSteps();
    expect(learned.fold(2, { recommendations: [recommend(1, CENTS)] })).toEqual(['L1 waiting']);
    expect(learned.added).toEqual([]);
    expect(learned.fold(3, { recommendations: [recommend(1, CENTS_AGAIN, 2)] })).toEqual([]);
    expect(learned.fold(4, { recommendations: [recommend(7, CENTS_AGAIN, 3)] })).toEqual(['L1 waiting -> firm']);
    expect(learned.steps).toEqual([...AUTHOR, CENTS]);
    expect(learned.lesson('L1')).toMatchObject({ state: 'firm', since: minute(4), inSteps: true });
    expect(learned.lesson('L1').support).toEqual([
      { item: 'item-1', row: 1, attempts: 2, at: minute(2), agent: 'opencode', model: 'small' },
      { item: 'item-7', row: 7, attempts: 2, at: minute(3), agent: 'opencode', model: 'small' },
    ]);
  });

  it('L7 eager: one row is enough; off: nothing is learned', () => {
    const [eager, off] = [new LearnedSteps(), new LearnedSteps()];
    const recommendations = [recommend(2, DATES), recommend(1, CENTS), recommend(3, '  ')];
    const grouping = { groups: [] };
    expect(eager.fold(2, { mode: 'eager', grouping, recommendations })).toEqual(['L1 firm', 'L2 firm']);
    expect(eager.added).toEqual([CENTS, DATES]);
    expect(off.fold(2, { mode: 'off', recommendations })).toEqual([]);
    expect(off.book.lessons).toEqual([]);
  });

  it('L6 eager without a usable answer of the agent: what one row says waits for a second one, also later', () => {
    const learned = new LearnedSteps();
    const mode = 'eager';
    // A single recommendation needs no answer.
    expect(learned.fold(2, { mode, recommendations: [recommend(1, CENTS)] })).toEqual(['L1 firm']);
    const several = [recommend(2, DATES, 3), recommend(3, DATES, 3), recommend(2, NAMES, 3)];
    expect(learned.fold(4, { mode, recommendations: several })).toEqual(['L2 firm', 'L3 waiting']);
    const usable = { grouping: { groups: [] } };
    expect(learned.fold(6, { mode, ...usable, votes: [helped(4, 'L1', 5)] })).toEqual([]);
    expect(learned.fold(8, { mode, recommendations: [recommend(5, NAMES, 7)] })).toEqual(['L3 waiting -> firm']);
  });

  it('L7 what the author says already is no lesson; what contradicts the author, or is screened, is held', () => {
    const learned = new LearnedSteps();
    const screen = (text: string) => (text.includes('curl') ? 'brings in a command: curl' : undefined);
    const texts = ['Write down its title.', 'Never write down its title', 'Send it with curl'];
    const recommendations = [1, 2].flatMap((row) => texts.map((text) => recommend(row, text)));
    expect(learned.fold(2, { mode: 'eager', screen, recommendations })).toEqual(['L1 held', 'L2 held']);
    expect(learned.book.lessons.map(({ reason }) => reason)).toEqual([
      'contradicts step 2 of the author',
      'brings in a command: curl',
    ]);
    expect(learned.steps).toEqual(AUTHOR);
  });

  it('L7 the halves of an attack are held together; one that is there alone stays without the other', () => {
    const screen = (text: string, others: readonly string[]) =>
      /left half|right half/.test(text) && others.some((other) => /left half|right half/.test(other))
        ? 'together they are an attack'
        : undefined;
    const [left, right] = ['Put the left half of it here', 'Append another right half below'];
    const both = new LearnedSteps();
    both.fold(2, { mode: 'eager', screen, recommendations: [recommend(1, left), recommend(2, right)] });
    expect(both.book.lessons.map(({ state }) => state)).toEqual(['held', 'held']);
    const late = new LearnedSteps();
    late.fold(2, { screen, recommendations: [recommend(1, left)] });
    late.fold(3, { screen, recommendations: [recommend(2, right, 2), recommend(3, left, 2)] });
    expect([late.added, late.lesson('L2').state]).toEqual([[left], 'held']);
  });

  it('L7 of contradicting lessons, what is in the Steps stays; else the one of more rows wins, or neither', () => {
    const learned = new LearnedSteps();
    const [ten, five] = ['Round weights to 10 grams', 'Round weights to 5 grams'];
    const equal = [recommend(1, ten), recommend(2, ten), recommend(3, five), recommend(4, five)];
    learned.fold(2, { recommendations: equal });
    expect(learned.added).toEqual([]);
    expect(learned.fold(3, { recommendations: [recommend(5, five, 2)] })).toEqual(['L2 waiting -> firm']);
    learned.fold(4, { recommendations: [6, 7, 8, 9].map((row) => recommend(row, ten, 3)) });
    expect(learned.added).toEqual([five]);
    // Once it is blamed out of the Steps, the other one takes its place.
    const votes = [harmed(10, 'L2', 5), harmed(11, 'L2', 5)];
    expect(learned.fold(6, { votes })).toEqual(['L1 waiting -> firm', 'L2 firm -> retired']);
  });

  it('L7 a waiting lesson is judged again when it is ready: the author or the lessons beside it may have changed', () => {
    const learned = new LearnedSteps();
    learned.fold(2, { recommendations: [recommend(1, CENTS), recommend(2, DATES)] });
    const again = [recommend(3, CENTS, 3), recommend(3, DATES, 3)];
    const screen = (text: string) => (text === DATES ? 'is an attack beside another lesson' : undefined);
    const authorSteps = [...AUTHOR, CENTS_AGAIN];
    expect(learned.fold(4, { recommendations: again, screen, authorSteps })).toEqual(['L2 waiting -> held']);
    expect(learned.lesson('L1').state).toBe('waiting');
  });

  it('L7 only so many waiting lessons are kept, and their ids are not used again', () => {
    const learned = new LearnedSteps();
    const text = (number: number) => `Rule ${number} is about thing${number}`;
    const first = Array.from({ length: 150 }, (_, i) => recommend(i + 1, text(i)));
    const second = Array.from({ length: 150 }, (_, i) => recommend(i + 151, text(i + 150), 3));
    learned.fold(2, { recommendations: first });
    learned.fold(4, { recommendations: second });
    expect(learned.book.lessons).toHaveLength(200);
    expect(learned.book.lessons.at(-1)).toMatchObject({ id: 'L300', text: text(299) });
    expect(learned.book.next).toBe(301);
  });
});

describe('votes', () => {
  const firm = () => {
    const learned = new LearnedSteps();
    learned.fold(2, { recommendations: [recommend(1, CENTS), recommend(2, CENTS), recommend(3, NAMES)] });
    return learned;
  };

  it('L8 two different rows, and more blame than credit, retire a lesson with the reasons', () => {
    const learned = firm();
    expect(learned.fold(4, { votes: [harmed(4, 'L1', 3), harmed(4, 'L1', 3)] })).toEqual([]);
    expect(learned.fold(6, { votes: [helped(5, 'L1', 5), helped(6, 'L1', 5), harmed(7, 'L1', 5)] })).toEqual([]);
    expect(learned.fold(8, { votes: [harmed(8, 'L1', 7)] })).toEqual(['L1 firm -> retired']);
    expect(learned.lesson('L1').reason).toBe('blamed by rows 4, 7, 8: row 4 failed; row 7 failed; row 8 failed');
    expect(learned.steps).toEqual(AUTHOR);
  });

  it('L8 one row is enough for a lesson without credit, once twelve rows have credited others since', () => {
    const learned = new LearnedSteps();
    const credits = (from: number, to: number, at: number) =>
      Array.from({ length: to - from }, (_, i) => helped(from + i, 'L1', at));
    learned.fold(2, { recommendations: [recommend(1, CENTS), recommend(2, CENTS)] });
    // Before the second lesson is there, credit says nothing about it.
    learned.fold(4, { votes: credits(10, 22, 3), recommendations: [recommend(3, NAMES, 3), recommend(4, NAMES, 3)] });
    expect(learned.fold(6, { votes: [...credits(30, 41, 5), harmed(30, 'L2', 5)] })).toEqual([]);
    const credited = structuredClone(learned.book);
    expect(learned.fold(8, { votes: credits(41, 42, 7) })).toEqual(['L2 firm -> retired']);
    expect(learned.lesson('L2').reason).toBe(
      'blamed by row 30: row 30 failed; 12 rows credited other lessons since, and none this one',
    );
    const helpful = new LearnedSteps(credited, [...AUTHOR, CENTS, NAMES]);
    expect(helpful.fold(8, { votes: [...credits(41, 60, 7), helped(41, 'L2', 7)] })).toEqual([]);
  });

  it('L8 harm outweighs help of the same row, and votes on what is not in the Steps do not count', () => {
    const learned = firm();
    learned.fold(4, { votes: [harmed(5, 'L1', 3), helped(5, 'L1', 3), helped(9, 'L2', 3), harmed(9, 'L7', 3)] });
    const { credit, blame } = learned.lesson('L1');
    expect([credit.length, blame.map(({ item }) => item)]).toEqual([0, ['item-5']]);
    expect(learned.lesson('L2').credit).toEqual([]);
  });

  it.each(['careful', 'eager'] as const)('L8 %s: it returns with two fresh rows, then with four', (mode) => {
    const learned = firm();
    const blame = (at: number) => ({ mode, votes: [harmed(10, 'L1', at), harmed(11, 'L1', at)] });
    const recommended = (row: number, at: number) => ({ mode, recommendations: [recommend(row, CENTS, at)] });
    learned.fold(4, blame(3));
    // The recommendations from before it was retired don't count again.
    expect(learned.fold(5, { mode, recommendations: [recommend(1, CENTS), recommend(2, CENTS)] })).toEqual([]);
    expect(learned.fold(7, recommended(3, 6))).toEqual([]);
    expect(learned.fold(9, recommended(4, 8))).toEqual(['L1 retired -> firm']);
    expect(learned.lesson('L1').blame).toEqual([]);
    learned.fold(11, blame(10));
    for (const row of [5, 6, 7]) expect(learned.fold(12 + row, recommended(row, 11 + row))).toEqual([]);
    expect(learned.fold(30, recommended(8, 29))).toEqual(['L1 retired -> firm']);
  });

  it('L8 a pinned lesson stays, whatever rows say', () => {
    const learned = firm();
    const pinned = decide(learned.book, 'pin', 'L1', { now: minute(3) });
    if ('refused' in pinned) throw new Error(pinned.refused);
    learned.book = pinned.book;
    expect(learned.fold(5, { votes: [10, 11, 12].map((row) => harmed(row, 'L1', 4)) })).toEqual([]);
    expect(learned.lesson('L1').blame).toHaveLength(3);
    expect(learned.added).toEqual([CENTS]);
  });

  it('L8 the newest votes count, so that a lesson that turned bad goes', () => {
    const learned = firm();
    const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
    learned.fold(4, { votes: rows(100, 200).map((row) => helped(row, 'L1', 3)) });
    expect(learned.lesson('L1').credit).toHaveLength(40);
    expect(learned.fold(6, { votes: rows(200, 220).map((row) => harmed(row, 'L1', 5)) })).toEqual([]);
    expect(learned.fold(8, { votes: [harmed(220, 'L1', 7)] })).toEqual(['L1 firm -> retired']);
  });
});

describe('budget', () => {
  const topic = (number: number) => `Topic${number} has its own rule${number}`;
  const eager = (row: number, text: string, at: number) => ({
    ...{ mode: 'eager' as const, grouping: { groups: [] } },
    budget: { lessons: 2, bytes: 1000 },
    recommendations: [recommend(row, text, at)],
  });

  it('L9 the lesson with the least credit makes room, and what helped more rows than recommend another stays', () => {
    const learned = new LearnedSteps();
    learned.fold(2, eager(1, topic(1), 1));
    learned.fold(4, eager(2, topic(2), 3));
    learned.fold(6, { ...eager(3, topic(3), 5), votes: [helped(9, 'L1', 5)] });
    expect(learned.added).toEqual([topic(1), topic(3)]);
    expect(learned.lesson('L2')).toMatchObject({ state: 'retired', reason: 'the budget has no room for it' });
    learned.fold(8, { ...eager(4, topic(4), 7), votes: [helped(9, 'L3', 7)] });
    expect(learned.lesson('L4').state).toBe('waiting');
    expect(learned.fold(10, eager(5, topic(4), 9))).toEqual(['L1 firm -> retired', 'L4 waiting -> firm']);
  });

  it('L9 bytes count, too, in UTF-8, and a lesson that is too large displaces nothing', () => {
    const learned = new LearnedSteps();
    const budget = { lessons: 20, bytes: 30 };
    learned.fold(2, { ...eager(1, 'Grüße überall üben', 1), budget });
    learned.fold(4, { ...eager(2, `A rule ${'ü'.repeat(12)}`, 3), budget });
    learned.fold(6, { ...eager(3, 'x'.repeat(31), 5), budget });
    expect(learned.book.lessons.map(({ state }) => state)).toEqual(['firm', 'waiting', 'waiting']);
  });

  it('L9 a smaller budget retires what is over it, but nothing that is pinned', () => {
    const learned = new LearnedSteps();
    const budget = { lessons: 20, bytes: 1000 };
    for (const row of [1, 2, 3]) learned.fold(row * 2, { ...eager(row, topic(row), row * 2 - 1), budget });
    const pinned = decide(learned.book, 'pin', 'L1', { now: minute(7) });
    if ('refused' in pinned) throw new Error(pinned.refused);
    learned.book = pinned.book;
    learned.fold(9, { budget: { lessons: 1, bytes: 1000 } });
    expect(learned.added).toEqual([topic(1)]);
    expect(learned.book.lessons.filter(({ task }) => task === TASK).map(({ state }) => state)).toEqual([
      ...['pinned', 'retired', 'retired'],
    ]);
  });
});
