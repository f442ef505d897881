import { expect, test } from 'vitest';
import type { LessonRecord } from '../../src/core/learning/lesson.ts';
import type { ReportedVote } from '../../src/core/model/events.ts';
import { SimulatedShift } from '../kit/simulated-shift.ts';
import type { Play } from '../kit/simulated-worker.ts';

/** Some are recommended by one row, some by two; the second is blamed by two rows. */
const SAID = [
  ['Keep the paper dry'],
  ['Wipe glass with a soft cloth', 'Sand old timber along its grain'],
  ['wipe glass with a soft cloth.'],
  [],
  ['The copper parts need gloves'],
  ['sand old timber along its grain', 'Fold the velvet loosely'],
];
const BAD = 'Wipe glass with a soft cloth';

const play: Play = ({ role, item, lessons = [] }) => {
  if (role !== 'dev') return { ms: 1 };
  const votes = lessons.map(
    ({ id, text }): ReportedVote => ({ lesson: id, effect: text.startsWith('Wipe') ? 'harmed' : 'helped', reason: '' }),
  );
  return { ms: 5, recommendations: SAID[item.index] ?? [], votes };
};

const newShift = (settings: Record<string, string | number | boolean>) =>
  new SimulatedShift({ rows: 10, settings: { parallel: true, 'max-batch-size': 2, ...settings }, play });

const stepsOf = (shift: SimulatedShift) => [...shift.text('make').matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step!);

/** Each lesson once in the file, and in the Steps exactly if it is firm. */
function expectWhole(lessons: readonly LessonRecord[], steps: readonly string[]): void {
  expect(new Set(lessons.map(({ text }) => text.toLowerCase())).size).toBe(lessons.length);
  const [author, ...learned] = steps;
  expect(author).toBe('Do {name}');
  expect([...learned].sort()).toEqual(lessons.flatMap(({ state, text }) => (state === 'firm' ? [text] : [])).sort());
  expect(lessons.filter(({ state, inSteps }) => inSteps !== (state === 'firm'))).toEqual([]);
}

test.each([
  ['eager', 'batch', 4, 1],
  ['careful', 'batch', 1, 2],
  ['eager', 'stream', 4, 3],
] as const)(
  'P8 L4 L10 killed at any moment, %s in a %s: each lesson is applied once, none is lost',
  async (lessons, dispatch, firm, first) => {
    const whole = newShift({ lessons, dispatch });
    const { moments, end } = await whole.run();
    expect(end?.exitCode).toBe(0);
    const expected = whole.lessons.map(({ text, state }) => `${text} ${state}`.toLowerCase()).sort();
    expect(whole.lessons.filter(({ state }) => state === 'firm')).toHaveLength(firm);
    expect(whole.lessons.find(({ text }) => text === BAD)).toMatchObject({ state: 'retired' });
    // Every third moment; over the modes that is every one.
    for (let diesAt = first; diesAt < moments; diesAt += 3) {
      const shift = newShift({ lessons, dispatch });
      await shift.run({ diesAt, losesUnflushed: diesAt % 2 === 0 });
      await shift.run({ diesAt: 40 });
      const { history } = await shift.run();
      expectWhole(shift.lessons, stepsOf(shift));
      for (const { id, state } of shift.lessons) expect(history.lessonState(id)).toBe(state);
      // Where each came from is known, whenever the run died.
      const told = history.changesOf('make').flatMap(({ lessons: added }) => added.map(({ text }) => text));
      for (const { state, text } of shift.lessons)
        if (state === 'firm') expect([diesAt, told]).toEqual([diesAt, expect.arrayContaining([text])]);
      // A vote that no journal kept is not counted, so a blamed lesson may stay longer.
      const found = shift.lessons.map(({ text }) => text.toLowerCase()).sort();
      expect([diesAt, found]).toEqual([diesAt, expected.map((each) => each.replace(/ \w+$/, ''))]);
    }
  },
);
