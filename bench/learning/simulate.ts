import { readGrouping } from '../../src/core/learning/grouping.ts';
import { authorSteps, lessonsIn, reconcile } from '../../src/core/learning/in-steps.ts';
import { type LessonBook, type LessonChange, NO_LESSONS } from '../../src/core/learning/lesson.ts';
import { foldReports, type LessonMode } from '../../src/core/learning/policy.ts';
import { type FoldedRecommendation, inOrder } from '../../src/core/learning/reports.ts';
import { createScreen } from '../../src/core/learning/screen/screen.ts';
import { votesIn } from '../../src/core/learning/votes.ts';
import type { LessonVote } from '../../src/core/model/events.ts';
import { adaptSize, startSize } from '../../src/core/schedule/concurrency.ts';
import { groupByMeaning } from './manager.ts';
import type { LessonEvent, Night, RowResult } from './night.ts';
import { type DevReport, devReport, type GivenLesson } from './reports.ts';
import { AUTHOR_STEPS } from './sentences.ts';
import { MOST_ATTEMPTS, ROWS, type World } from './world.ts';

export interface Policy {
  readonly mode: LessonMode;
  /** Whether the manager's agent groups what says the same. Without it the plain rule stands alone. */
  readonly grouping: boolean;
}

const TASK = 'card';
const LARGEST_BATCH = 8;
const screen = createScreen({ authorSteps: AUTHOR_STEPS, columns: new Set(['name']), secrets: [], rows: [] });
const BUDGET = { lessons: 20, bytes: 6 * 1024 };

/** A night of the pure policy: batches as the engine makes them, and a fold after each. */
export function simulate(world: World, policy: Policy): Night {
  let [book, steps]: [LessonBook, readonly string[]] = [NO_LESSONS, AUTHOR_STEPS];
  let size = startSize({ maxBatchSize: LARGEST_BATCH });
  const rows: RowResult[] = [];
  const changes: LessonEvent[] = [];
  for (let batch = 1; rows.length < ROWS; batch++) {
    const at = timeOf(batch * 2);
    const reports = Array.from({ length: Math.min(size, ROWS - rows.length) }, (_, i) =>
      work(world, rows.length + i + 1, { book, steps, at }),
    );
    rows.push(...reports.map(({ done, attempts }) => ({ done, attempts })));
    const done = reports.filter((report) => report.done).length;
    size = adaptSize(size, { done, failed: reports.length - done, returned: 0 }, LARGEST_BATCH).to;
    const folded = fold({ book, steps, now: timeOf(batch * 2 + 1) }, reports, policy);
    changes.push(...folded.changes.map(({ id, text, to }) => ({ id, text, to, rows: rows.length })));
    ({ book, steps } = folded);
  }
  return { rows, changes, steps };
}

interface Report extends RowResult {
  readonly recommendations: readonly FoldedRecommendation[];
  readonly votes: readonly LessonVote[];
}

interface Learned {
  readonly book: LessonBook;
  readonly steps: readonly string[];
}

/** Up to three attempts of one dev. */
function work(world: World, row: number, { book, steps, at }: Learned & { readonly at: string }): Report {
  const lessons = lessonsIn(book, TASK, steps);
  const [item, votes] = [`row-${row}`, [] as LessonVote[]];
  for (let number = 1; ; number++) {
    const report = devReport(world, { row, number }, lessons);
    votes.push(...votesOf(report, lessons).map((vote) => ({ ...vote, item, row, at })));
    const done = report.overall_status === 'SUCCESS';
    if (!done && number < MOST_ATTEMPTS) continue;
    const recommendations = report.recommendations.map((text) => ({
      ...{ text, item, row, at, attempts: number, agent: 'world' },
    }));
    return { done, attempts: number, recommendations, votes };
  }
}

/** As the engine counts them. */
function votesOf({ overall_status: status, error, lessons }: DevReport, given: readonly GivenLesson[]) {
  const votes = lessons.map(({ id, ...vote }) => ({ ...vote, lesson: id }));
  return votesIn({ lessons: given }, { status, votes, ...(error === null ? {} : { reason: error }) });
}

function fold(
  { book, steps, now }: Learned & { readonly now: string },
  reports: readonly Report[],
  { mode, grouping }: Policy,
): Learned & { readonly changes: readonly LessonChange[] } {
  const recommendations = reports.flatMap((report) => report.recommendations);
  const author = authorSteps(book, TASK, steps);
  const context = { book, task: TASK, recommendations, authorSteps: author };
  const groups = grouping ? readGrouping(groupByMeaning(inOrder(recommendations), book.lessons), context) : undefined;
  if (groups && 'refused' in groups) throw new Error(groups.refused);
  const folded = foldReports(book, {
    ...{ task: TASK, mode, budget: BUDGET, now, screen, authorSteps: author, recommendations },
    votes: reports.flatMap((report) => report.votes),
    ...(groups ? { grouping: groups } : {}),
  });
  const written = reconcile(folded.book, { task: TASK, steps, now });
  return { ...written, changes: folded.changes };
}

function timeOf(minute: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
}
