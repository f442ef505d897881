import { compare } from '../text/likeness.ts';
import { byId, changeOf, moved } from './draft.ts';
import { isApplied, type LessonBook, type LessonChange, type LessonRecord } from './lesson.ts';

export interface Reconciled {
  /** With `inSteps` as it is after `steps` were written: write it after them. */
  readonly book: LessonBook;
  /** What the Steps should be; the same texts if nothing is to be written. */
  readonly steps: readonly string[];
  readonly changes: readonly LessonChange[];
}

interface TaskSteps {
  readonly task: string;
  readonly steps: readonly string[];
  readonly now: string;
}

/**
 * Compares the lessons of a task with its Steps. What a crash left half done is finished; what a person edited wins.
 * Call it at start, before each fold, and after each change of the lessons.
 */
export function reconcile(book: LessonBook, { task, steps, now }: TaskSteps): Reconciled {
  const places = placesOf(book, task, steps);
  const after = new Map(
    book.lessons
      .filter((lesson) => lesson.task === task)
      .map((lesson) => [lesson.id, settled(lesson, steps[places.get(lesson.id) ?? -1], now)]),
  );
  const settledLessons = [...after.values()].sort(byId);
  const removed = new Set(
    settledLessons.filter((lesson) => !isApplied(lesson)).flatMap(({ id }) => places.get(id) ?? []),
  );
  const isLesson = new Set(places.values());
  const written = steps.map((text, index) => ({ text, isLesson: isLesson.has(index) }));
  let target = written.filter((_, index) => !removed.has(index));
  for (const lesson of settledLessons) {
    if (isApplied(lesson) && !places.has(lesson.id)) target = withLesson(target, lesson);
  }
  return {
    book: {
      ...book,
      lessons: book.lessons.map((lesson) => confirmed(after.get(lesson.id) ?? lesson, lesson.task === task)),
    },
    steps: target.map(({ text }) => text),
    changes: book.lessons.flatMap((lesson) => {
      const now = after.get(lesson.id);
      return now === undefined || now.state === lesson.state ? [] : [changeOf(lesson, now)];
    }),
  };
}

/** The Steps without lessons. */
export function authorSteps(book: LessonBook, task: string, steps: readonly string[]): string[] {
  const lessons = new Set(lessonsIn(book, task, steps).map(({ step }) => step));
  return steps.filter((_, index) => !lessons.has(index + 1));
}

/** The lessons in the Steps, with the number of their step (from 1). */
export function lessonsIn(
  book: LessonBook,
  task: string,
  steps: readonly string[],
): { readonly id: string; readonly step: number; readonly text: string }[] {
  const places = placesOf(book, task, steps);
  return book.lessons
    .filter((lesson) => places.has(lesson.id) && (isApplied(lesson) || lesson.inSteps))
    .map(({ id, text }) => ({ id, step: places.get(id)! + 1, text }))
    .sort((a, b) => a.step - b.step);
}

/** The step of each lesson, from 0. One that a person worded otherwise is found by its likeness. */
function placesOf(book: LessonBook, task: string, steps: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const taken = new Set<number>();
  const plainSteps = steps.map(plain);
  const place = (lesson: LessonRecord, isIt: (step: string) => boolean) => {
    if (places.has(lesson.id)) return;
    const index = plainSteps.findIndex((step, i) => !taken.has(i) && isIt(step));
    if (index === -1) return;
    places.set(lesson.id, index);
    taken.add(index);
  };
  const own = book.lessons.filter((lesson) => lesson.task === task).sort(byId);
  const written = own.filter((lesson) => lesson.inSteps || isApplied(lesson));
  for (const lesson of [...written, ...own]) {
    const text = plain(lesson.text);
    place(lesson, (step) => step === text);
  }
  for (const lesson of written) {
    if (lesson.inSteps && isApplied(lesson)) place(lesson, (step) => compare(step, lesson.text) === 'same');
  }
  return places;
}

/** White space may change when Steps are written and read. */
function plain(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** The lesson after a look at its step; `step` is undefined if the Steps don't have it. */
function settled(lesson: LessonRecord, step: string | undefined, now: string): LessonRecord {
  if (isApplied(lesson)) {
    if (step !== undefined) return plain(step) === plain(lesson.text) ? lesson : { ...lesson, text: plain(step) };
    if (!lesson.inSteps) return lesson;
    return moved(lesson, 'banned', { now, reason: 'removed from the Steps by a person' });
  }
  const isPutThere = step !== undefined && !lesson.inSteps;
  return isPutThere ? { ...moved(lesson, 'pinned', { now }), by: 'person' } : lesson;
}

function confirmed(lesson: LessonRecord, isOfTask: boolean): LessonRecord {
  return isOfTask ? { ...lesson, inSteps: isApplied(lesson) } : lesson;
}

interface Step {
  readonly text: string;
  readonly isLesson: boolean;
}

/** After its author's step and the lessons that follow it, or at the end. */
function withLesson(steps: readonly Step[], { text, after }: LessonRecord): Step[] {
  const author = steps.flatMap((step, index) => (step.isLesson ? [] : [index]));
  let at = after === undefined ? steps.length : after === 0 ? 0 : (author[after - 1] ?? steps.length - 1) + 1;
  while (steps[at]?.isLesson) at++;
  return [...steps.slice(0, at), { text, isLesson: true }, ...steps.slice(at)];
}
