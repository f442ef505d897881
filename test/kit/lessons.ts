import { authorSteps, reconcile } from '../../src/core/learning/in-steps.ts';
import { type LessonBook, type LessonRecord, NO_LESSONS } from '../../src/core/learning/lesson.ts';
import { type FoldInput, foldReports } from '../../src/core/learning/policy.ts';
import type { FoldedRecommendation } from '../../src/core/learning/reports.ts';
import type { LessonVote } from '../../src/core/model/events.ts';

export const TASK = 'page';
export const AUTHOR = ['Open the page {name}', 'Write down its title', 'Save it as {name}.txt'];
const BUDGET = { lessons: 20, bytes: 6 * 1024 };

/** Minute 0, 1, 2, ... of a night. */
export function minute(number: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, number)).toISOString();
}

export function recommend(row: number, text: string, at = 1): FoldedRecommendation {
  return { text, item: `item-${row}`, row, attempts: 2, at: minute(at), agent: 'opencode', model: 'small' };
}

export function helped(row: number, lesson: string, at: number): LessonVote {
  return { item: `item-${row}`, row, at: minute(at), lesson, effect: 'helped', reason: '' };
}

export function harmed(row: number, lesson: string, at: number): LessonVote {
  return { item: `item-${row}`, row, at: minute(at), lesson, effect: 'harmed', reason: `row ${row} failed` };
}

/** The inputs of a fold at this minute; what is not given is the default. */
export function inputAt(now: number, given: Partial<FoldInput> = {}): FoldInput {
  return {
    ...{ task: TASK, mode: 'careful', budget: BUDGET, now: minute(now), authorSteps: AUTHOR },
    ...{ recommendations: [], votes: [], screen: () => undefined },
    ...given,
  };
}

/** The lessons and the Steps of one task, as the engine keeps them. */
export class LearnedSteps {
  book: LessonBook;
  steps: readonly string[];

  constructor(book: LessonBook = NO_LESSONS, steps: readonly string[] = AUTHOR) {
    this.book = book;
    this.steps = steps;
  }

  /** One fold at this minute, and its changes as `L1 waiting -> firm`. */
  fold(now: number, given: Partial<FoldInput> = {}): string[] {
    const author = authorSteps(this.book, TASK, this.steps);
    const { book, changes } = foldReports(this.book, inputAt(now, { authorSteps: author, ...given }));
    this.book = book;
    this.reconcile(now);
    return changes.map(({ id, from, to }) => (from === undefined ? `${id} ${to}` : `${id} ${from} -> ${to}`));
  }

  reconcile(now: number): void {
    const { book, steps } = reconcile(this.book, { task: TASK, steps: this.steps, now: minute(now) });
    this.book = book;
    this.steps = steps;
  }

  /** The steps that the author did not write. */
  get added(): string[] {
    return this.steps.filter((step) => !AUTHOR.includes(step));
  }

  lesson(id: string): LessonRecord {
    const found = this.book.lessons.find((lesson) => lesson.id === id);
    if (!found) throw new Error(`there is no ${id}`);
    return found;
  }
}
