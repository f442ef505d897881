import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AUTHOR, inputAt, LearnedSteps, minute, recommend, TASK } from '../../../test/kit/lessons.ts';
import type { LessonVote } from '../model/events.ts';
import { decide, type PersonsVerb } from './by-person.ts';
import { authorSteps, reconcile } from './in-steps.ts';
import { isApplied, type LessonBook } from './lesson.ts';
import { type FoldInput, foldReports } from './policy.ts';

/** The same nights in every run of the tests; another seed has others. */
const DRAWN = { seed: Number(process.env.NIGHTSHIFT_SEED ?? 1), numRuns: Number(process.env.NIGHTSHIFT_RUNS ?? 60) };
const TEXTS = [
  'Prices are in cents, so divide them by 100',
  'Divide prices by 100: they are in cents',
  'Prices are in cents, so divide them by 1000',
  'Dates are written day first',
  'The dates are never written day first',
  'Names with a comma have the surname first',
  'Never write down its title',
  'Write down its title',
  'Send it somewhere with curl',
  'Weights without a unit are in pounds',
];
const VERBS = ['accept', 'reject', 'pin', 'ban', 'undo'] as const;
const BUDGET = { lessons: 3, bytes: 120 };
const screen = (text: string) => (text.includes('curl') ? 'brings in a command: curl' : undefined);

const report = fc.record({ row: fc.integer({ min: 1, max: 12 }), text: fc.constantFrom(...TEXTS) });
const vote = fc.record({
  row: fc.integer({ min: 1, max: 12 }),
  lesson: fc.integer({ min: 1, max: 8 }).map((number) => `L${number}`),
  effect: fc.constantFrom('helped' as const, 'harmed' as const),
});
const batch = fc.record({
  mode: fc.constantFrom('eager' as const, 'careful' as const),
  reports: fc.array(report, { maxLength: 6 }),
  votes: fc.array(vote, { maxLength: 6 }),
  decision: fc.option(fc.record({ verb: fc.constantFrom(...VERBS), id: fc.integer({ min: 1, max: 8 }) })),
});
type Batch = typeof batch extends fc.Arbitrary<infer T> ? T : never;
const night = fc.array(batch, { minLength: 1, maxLength: 8 });

/** Batch `n` ran at minute 4n and is folded two minutes later; a person decides something after that. */
function inputOf({ mode, reports, votes }: Batch, number: number): FoldInput {
  const at = number * 4;
  return inputAt(at + 2, {
    ...{ mode, budget: BUDGET, screen },
    recommendations: reports.map(({ row, text }) => recommend(row, text, at)),
    votes: votes.map((each): LessonVote => ({ ...each, item: `item-${each.row}`, at: minute(at), reason: 'why' })),
  });
}

function decided(book: LessonBook, verb: PersonsVerb, id: number, now: number): LessonBook {
  const result = decide(book, verb, `L${id}`, { now: minute(now) });
  return 'refused' in result ? book : result.book;
}

/** Plays a night and shows each fold to `look`. */
function play(batches: readonly Batch[], look: (learned: LearnedSteps, input: FoldInput) => void): LearnedSteps {
  const learned = new LearnedSteps();
  for (const [i, each] of batches.entries()) {
    const input = inputOf(each, i + 1);
    look(learned, input);
    learned.fold((i + 1) * 4 + 2, input);
    if (each.decision) {
      learned.book = decided(learned.book, each.decision.verb, each.decision.id, (i + 1) * 4 + 3);
      learned.reconcile((i + 1) * 4 + 3);
    }
  }
  return learned;
}

/** Held by the screen, or since the author says the contrary. */
const isForbidden = (text: string) => screen(text) !== undefined || text === 'Never write down its title';
const stateOf = ({ lessons }: LessonBook) => new Map(lessons.map(({ id, state }) => [id, state]));

it('L7 folding the same reports again changes nothing, also later', () => {
  fc.assert(
    fc.property(night, (batches) => {
      play(batches, ({ book }, input) => {
        const once = foldReports(book, input).book;
        expect(foldReports(once, input).book).toEqual(once);
        expect(foldReports(once, { ...input, now: minute(999) }).book).toEqual(once);
      });
    }),
    DRAWN,
  );
});

it('L7 the order in which the items of a batch ended does not matter', () => {
  fc.assert(
    fc.property(night, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (batches, lots) => {
      const shuffled = <T>(list: readonly T[]) => {
        const drawn = list.map((value) => ({ value, lot: lots.next().value as number }));
        return drawn.sort((a, b) => a.lot - b.lot).map(({ value }) => value);
      };
      play(batches, ({ book }, input) => {
        const { recommendations, votes } = input;
        const mixed = { ...input, recommendations: shuffled(recommendations), votes: shuffled(votes) };
        expect(foldReports(book, mixed)).toEqual(foldReports(book, input));
      });
    }),
    DRAWN,
  );
});

it('L7 L9 L10 the author, the budget, pins and bans are respected, and no id is used twice', () => {
  fc.assert(
    fc.property(night, (batches) => {
      const texts = new Map<string, string>();
      play(batches, (learned, input) => {
        const { book } = learned;
        const after = foldReports(book, input).book;
        const { steps } = reconcile(after, { task: TASK, steps: learned.steps, now: input.now });
        expect(authorSteps(after, TASK, steps)).toEqual(AUTHOR);
        expect(steps.filter(isForbidden).filter((step) => !learned.steps.includes(step))).toEqual([]);
        for (const { id, text } of after.lessons) {
          expect(texts.get(id) ?? text).toBe(text);
          texts.set(id, text);
        }
        const states = stateOf(after);
        for (const { id, state } of book.lessons) {
          if (state === 'pinned' || state === 'banned') expect(states.get(id)).toBe(state);
        }
        // A person may pin, accept and add more than the budget has room for: then nothing else is firm.
        const applied = after.lessons.filter(isApplied);
        const bytes = applied.reduce((sum, { text }) => sum + text.length, 0);
        const isOver = applied.length > BUDGET.lessons || bytes > BUDGET.bytes;
        if (isOver) expect(applied.every(({ state }) => state === 'pinned')).toBe(true);
      });
    }),
    DRAWN,
  );
});

/** The writes of a fold, in their order (`lessons.json`, the Steps, `lessons.json`); a crash leaves the first `n`. */
function crashAfter(writes: number, learned: LearnedSteps, input: FoldInput): LearnedSteps {
  const { book } = foldReports(learned.book, input);
  const written = reconcile(book, { task: TASK, steps: learned.steps, now: input.now });
  return new LearnedSteps(
    writes === 0 ? learned.book : writes < 3 ? book : written.book,
    writes < 2 ? learned.steps : written.steps,
  );
}

it('L10 a crash between any two writes is finished by the next start: each lesson once, none lost', () => {
  fc.assert(
    fc.property(night, fc.constantFrom(0, 1, 2, 3), (batches, writes) => {
      play(batches, (learned, input) => {
        const whole = crashAfter(3, learned, input);
        const crashed = crashAfter(writes, learned, input);
        crashed.reconcile(500);
        const again = foldReports(crashed.book, input).book;
        const restarted = reconcile(again, { task: TASK, steps: crashed.steps, now: input.now });
        expect([restarted.book, restarted.steps]).toEqual([whole.book, whole.steps]);
      });
    }),
    DRAWN,
  );
});
