import { compare } from '../text/likeness.ts';
import { isApplied, type LessonBook, type LessonChange, type LessonRecord, type LessonState } from './lesson.ts';
import { ordered } from './reports.ts';

type NewLesson = Pick<LessonRecord, 'text'> & Partial<Pick<LessonRecord, 'after' | 'by' | 'from' | 'ungrouped'>>;

/** The lessons of one task while they change. */
export class Draft {
  readonly #before: LessonBook;
  readonly #records: Map<string, LessonRecord>;
  readonly #task: string;
  readonly #now: string;
  #next: number;

  constructor(book: LessonBook, { task, now }: { readonly task: string; readonly now: string }) {
    this.#before = book;
    this.#records = new Map(book.lessons.map((lesson) => [lesson.id, lesson]));
    this.#task = task;
    this.#now = now;
    this.#next = book.next;
  }

  get lessons(): LessonRecord[] {
    return [...this.#records.values()].filter(({ task }) => task === this.#task);
  }

  get applied(): LessonRecord[] {
    return this.lessons.filter(isApplied);
  }

  /** The lesson that says this. One in the Steps first, then the oldest. */
  saying(texts: readonly string[]): LessonRecord | undefined {
    const same = this.lessons.filter(({ text, wordings = [] }) =>
      texts.some((wanted) => [text, ...wordings].some((known) => compare(known, wanted) === 'same')),
    );
    return same.find(isApplied) ?? same[0];
  }

  get(id: string): LessonRecord | undefined {
    return this.#records.get(id);
  }

  put(lesson: LessonRecord): void {
    this.#records.set(lesson.id, lesson);
  }

  add(lesson: NewLesson, state: LessonState, reason?: string): LessonRecord {
    const id = `L${this.#next++}`;
    const standing = { state, since: this.#now, ...(reason === undefined ? {} : { reason }) };
    const record = {
      ...{ id, task: this.#task, ...lesson, ...standing },
      ...{ inSteps: false, support: [], credit: [], blame: [] },
    };
    this.put(record);
    return record;
  }

  move(id: string, state: LessonState, reason?: string): void {
    this.put(moved(this.get(id)!, state, { now: this.#now, reason }));
  }

  forget(id: string): void {
    this.#records.delete(id);
  }

  book(): LessonBook {
    return { version: 1, next: this.#next, lessons: [...this.#records.values()] };
  }

  changes(): LessonChange[] {
    const before = new Map(this.#before.lessons.map((lesson) => [lesson.id, lesson]));
    return [...this.#records.values()].flatMap((lesson) => {
      const old = before.get(lesson.id);
      return old?.state === lesson.state ? [] : [changeOf(old, lesson)];
    });
  }
}

/** The lesson in another state. In the Steps it begins without votes; after them it needs fresh support. */
export function moved(
  lesson: LessonRecord,
  state: LessonState,
  { now, reason }: { readonly now: string; readonly reason?: string | undefined },
): LessonRecord {
  const { reason: why, previous: _, ...rest } = lesson;
  const previous = { state: lesson.state, since: lesson.since, ...(why === undefined ? {} : { reason: why }) };
  const [was, is] = [isApplied(lesson), isApplied({ state })];
  return {
    ...rest,
    ...{ state, since: now, previous, ...(reason === undefined ? {} : { reason }) },
    ...(is && !was ? { credit: [], blame: [] } : {}),
    ...(was && !is ? { freshFrom: now } : {}),
  };
}

export function changeOf(old: LessonRecord | undefined, lesson: LessonRecord): LessonChange {
  const { id, task, text, state, reason } = lesson;
  const from = old === undefined ? {} : { from: old.state };
  return { id, task, text, ...from, to: state, ...(reason === undefined ? {} : { reason }) };
}

/** The oldest id first: `L2` before `L10`. */
export function byId(a: LessonRecord, b: LessonRecord): number {
  return a.id.length - b.id.length || ordered(a.id, b.id);
}
