import type { History } from '../../core/folds/history.ts';
import { type Learning, summariseLearning } from '../../core/folds/learning.ts';
import type { Items } from '../../core/folds/summary.ts';
import { byId } from '../../core/learning/draft.ts';
import { reconcile } from '../../core/learning/in-steps.ts';
import { isApplied, type LessonBook, type LessonRecord, type LessonState } from '../../core/learning/lesson.ts';
import type { LessonSettings } from '../../core/model/model.ts';
import type { Shift } from '../../core/model/shift.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { findTask } from '../find-task.ts';
import { openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';

/** The lessons of a shift, or of one task. */
export interface LessonList {
  readonly shift: string;
  /** Absent: all tasks. */
  readonly task?: string;
  readonly mode: LessonSettings['mode'];
  /** For each task. */
  readonly budget: LessonSettings['budget'];
  /** What needs a person first. */
  readonly lessons: readonly LessonRecord[];
}

export async function listLessons(world: Pick<World, 'now'>, paths: ShiftPaths, task?: string): Promise<LessonList> {
  const { shift } = await openAndCheck(paths);
  if (task !== undefined) findTask(shift, task);
  const { mode, budget } = shift.settings.lessons;
  const lessons = lessonsOf(shift, world.now(), task);
  return { shift: paths.name, ...(task === undefined ? {} : { task }), mode, budget, lessons };
}

/** The lessons of a shift that was read, or of one task: what needs a person first. */
export function lessonsOf(shift: Pick<Shift, 'tasks' | 'lessons'>, now: number, task?: string): LessonRecord[] {
  const { lessons } = currentBook(shift, new Date(now).toISOString());
  return lessons.filter((lesson) => task === undefined || lesson.task === task).sort(inOrder);
}

interface Past {
  readonly items: Items;
  readonly history: History;
  readonly now: number;
}

export function readLearning(shift: Shift, { items, history, now }: Past): Learning {
  return summariseLearning({ shift, book: currentBook(shift, new Date(now).toISOString()), items, history });
}

/** With what a person did to the Steps since the last run. The next run writes it down. */
function currentBook({ tasks, lessons }: Pick<Shift, 'tasks' | 'lessons'>, now: string): LessonBook {
  return tasks.reduce(
    (book, { name, stepTexts }) => reconcile(book, { task: name, steps: stepTexts, now }).book,
    lessons.book,
  );
}

const RANKS: readonly LessonState[] = ['held', 'waiting', 'pinned', 'firm', 'retired', 'banned'];

function inOrder(a: LessonRecord, b: LessonRecord): number {
  const rank = (lesson: LessonRecord) => RANKS.indexOf(isApplied(lesson) ? 'firm' : lesson.state);
  return rank(a) - rank(b) || byId(a, b);
}
