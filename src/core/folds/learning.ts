import { type EndedItem, firstAttemptsByHoldout, firstAttemptsByTenth } from '../learning/first-attempts.ts';
import { type Difference, differenceOf, type Successes } from '../learning/holdout.ts';
import { isApplied, LESSON_STATES, type LessonBook, type LessonRecord, type LessonState } from '../learning/lesson.ts';
import type { Shift, Task } from '../model/shift.ts';
import { statusAt } from '../schedule/plan.ts';
import type { History } from './history.ts';
import type { Items } from './summary.ts';

/** What a shift has learned, and whether it helps. */
export interface Learning {
  readonly mode: Shift['settings']['lessons']['mode'];
  /** How many lessons have each state. */
  readonly states: Readonly<Record<LessonState, number>>;
  /** How many of them got it since the last run began. */
  readonly recent: Readonly<Record<LessonState, number>>;
  /** Only tasks with lessons. */
  readonly tasks: readonly TaskLearning[];
}

export interface TaskLearning {
  readonly task: string;
  /** Success on the first attempt, by tenth of the table; null: too few rows have ended. */
  readonly firstAttempts: readonly Successes[] | null;
  /** Rows with lessons compared with rows without them; null: no row was held out. */
  readonly holdout: HoldoutResult | null;
  /** Lessons in the Steps that only another agent or model recommended; null: there are none. */
  readonly otherModel: OtherModel | null;
}

export interface HoldoutResult {
  readonly given: Successes;
  readonly heldOut: Successes;
  /** Of the shares, with its interval; null: one of them has no rows. */
  readonly difference: Difference | null;
}

interface OtherModel {
  readonly lessons: readonly string[];
  readonly taughtBy: readonly string[];
  /** What the task uses now. */
  readonly now: string;
}

interface Known {
  readonly shift: Pick<Shift, 'tasks' | 'settings'>;
  readonly book: LessonBook;
  readonly items: Items;
  readonly history: History;
}

/** Fewer rows than this say little about a tenth of the table. */
const LEAST_ENDED = 20;

export function summariseLearning({ shift, book, items, history }: Known): Learning {
  const startedAt = history.lastRun?.startedAt ?? '';
  const recent = book.lessons.filter(({ since }) => startedAt !== '' && since >= startedAt);
  const taught = shift.tasks.filter(({ name }) => book.lessons.some(({ task }) => task === name));
  return {
    mode: shift.settings.lessons.mode,
    states: countStates(book.lessons),
    recent: countStates(recent),
    tasks: taught.map((task) => {
      const ended = endedItems(task.name, { items, history });
      const lessons = book.lessons.filter((lesson) => lesson.task === task.name && isApplied(lesson));
      return {
        task: task.name,
        firstAttempts: byTenth(items, ended),
        holdout: holdoutOf(ended, history.changesOf(task.name)[0]?.at),
        otherModel: otherModelOf(task, lessons, ended),
      };
    }),
  };
}

function countStates(lessons: readonly LessonRecord[]): Record<LessonState, number> {
  const count = (wanted: LessonState) => lessons.filter(({ state }) => state === wanted).length;
  return Object.fromEntries(LESSON_STATES.map((state) => [state, count(state)])) as Record<LessonState, number>;
}

interface Ended extends EndedItem {
  readonly at: string;
  readonly isHeldOut: boolean;
  readonly model?: string | undefined;
}

/** Success of a task on the first attempt, by tenth of the table; null: too few rows have ended. */
export function firstAttemptsOf(task: string, known: Pick<Known, 'items' | 'history'>): readonly Successes[] | null {
  return byTenth(known.items, endedItems(task, known));
}

function byTenth({ count }: Items, ended: readonly Ended[]): readonly Successes[] | null {
  return ended.length < LEAST_ENDED ? null : firstAttemptsByTenth(count, ended);
}

/** What the table says is over, with what the journal says about it. */
function endedItems(task: string, { items, history }: Pick<Known, 'items' | 'history'>): Ended[] {
  const column = items.tasks.indexOf(task);
  return Array.from({ length: items.count }, (_, index) => index).flatMap((index): Ended[] => {
    const status = statusAt(items, index, column);
    const past = history.of(task, items.id(index));
    if ((status !== 'done' && status !== 'failed') || past?.dev === undefined) return [];
    const { attempts, at, model } = past.dev;
    return [{ index, done: status === 'done', attempts, at, model, isHeldOut: past.isHeldOut === true }];
  });
}

/** Rows that were done before the first lesson say nothing about lessons. */
function holdoutOf(ended: readonly Ended[], firstLesson: string | undefined): HoldoutResult | null {
  const compared = ended.filter(({ at, isHeldOut }) => isHeldOut || (firstLesson !== undefined && at > firstLesson));
  const heldOutRows = new Set(compared.filter(({ isHeldOut }) => isHeldOut).map(({ index }) => index));
  if (heldOutRows.size === 0) return null;
  const result = firstAttemptsByHoldout(compared, ({ index }) => heldOutRows.has(index));
  return { ...result, difference: differenceOf(result.given, result.heldOut) ?? null };
}

/** Without a model in its Configuration, a task uses the one that its last dev named. */
function otherModelOf(
  { settings }: Task,
  lessons: readonly LessonRecord[],
  ended: readonly Ended[],
): OtherModel | null {
  const { agent } = settings;
  const newest = ended.reduce<Ended | undefined>((last, each) => (last && last.at >= each.at ? last : each), undefined);
  const now = { agent, model: settings.model ?? newest?.model };
  const foreign = lessons.filter(
    ({ support }) => support.length > 0 && support.every((each) => each.agent !== BY_HAND && !isSame(each, now)),
  );
  if (foreign.length === 0) return null;
  const taughtBy = new Set(foreign.flatMap(({ support }) => support.map(nameOf)));
  return { lessons: foreign.map(({ id }) => id), taughtBy: [...taughtBy].sort(), now: nameOf(now) };
}

/** Programs that work on batches by hand don't name themselves. */
const BY_HAND = 'by hand';

interface Teacher {
  readonly agent: string;
  readonly model?: string | undefined;
}

/** An agent may report more of a model's name than its setting has: `opus` and `claude-opus-4-5`. */
function isSame(a: Teacher, b: Teacher): boolean {
  if (a.agent !== b.agent) return false;
  if (a.model === undefined || b.model === undefined) return true;
  const [one, other] = [a.model.toLowerCase(), b.model.toLowerCase()];
  return one.includes(other) || other.includes(one);
}

function nameOf({ agent, model }: Teacher): string {
  return model === undefined ? agent : `${agent} (${model})`;
}
