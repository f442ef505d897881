import { reconcile } from '../../core/learning/in-steps.ts';
import type { LessonBook, LessonRecord } from '../../core/learning/lesson.ts';
import { versionOf } from '../../core/model/identity.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { RunContext } from '../context.ts';

/** What it takes to write lessons down. */
export type LessonPorts = Pick<RunContext, 'documents' | 'emit' | 'history' | 'alone' | 'ports'>;

export interface Settlement {
  /** As it was read; `book` was made from its lessons. */
  readonly shift: Pick<Shift, 'lessons'>;
  readonly task: Task;
  readonly book: LessonBook;
  readonly now: string;
  /** The number of the batch in this run; 0 for what an earlier run left, and for a person's decision. */
  readonly batch: number;
  /** Items whose recommendations are in `book`, and how many votes of each item are. */
  readonly considered?: readonly string[];
  readonly counted?: Readonly<Record<string, number>>;
}

/**
 * Writes the lessons of a task and brings its Steps in line. The order makes it happen exactly once, whenever the
 * process dies: the lessons with their new states, the Steps, then the lessons with what the Steps hold now. `reconcile`
 * finishes what is half done. Returns false if a file was edited meanwhile: read both again, and repeat.
 */
export function settleLessons(context: LessonPorts, settlement: Settlement): Promise<boolean> {
  const { shift, task, book, now, considered = [], counted = {} } = settlement;
  const { documents, emit, history, ports } = context;
  const before = shift.lessons;
  const hasVotes = Object.keys(counted).length > 0;
  // No dev may start with Steps that no event has told of yet.
  return context.alone(async () => {
    const first = await write(context, before, book);
    if (!first) return false;
    const after = reconcile(book, { task: task.name, steps: task.stepTexts, now });
    const votes = hasVotes ? { counted: { ...counted } } : {};
    const settled = { task: task.name, considered: [...considered], ...votes };
    const isKept = isSameList(after.steps, task.stepTexts);
    const written = isKept ? task.text : await documents.writeSteps(task.name, task.text, after.steps);
    if (written === undefined) return false;
    if (!isKept || isUntold({ history, task }, book, after.book)) {
      const from = isKept ? (history.changesOf(task.name).at(-1)?.to ?? task.version) : task.version;
      const change = { from, to: versionOf(written), batch: settlement.batch };
      emit({ type: 'steps:changed', ...settled, ...change, ...describe(before.book, after.book) });
      // Before the lessons are confirmed: a start that finds them unconfirmed tells of the change.
      await ports.events.flush();
    } else if (considered.length > 0 || hasVotes) {
      emit({ type: 'steps:kept', ...settled, reason: 'no lesson for the Steps', recommendations: [] });
    }
    if (!(await write(context, first, after.book))) return false;
    tellStates({ emit, history }, after.book, task.name);
    return true;
  });
}

/** Whether a run died after it wrote the Steps, and before the journal had the change. */
function isUntold(
  { history, task }: { history: LessonPorts['history']; task: Task },
  written: LessonBook,
  confirmed: LessonBook,
): boolean {
  const isConfirmed = new Map(confirmed.lessons.map(({ id, state, inSteps }) => [id, `${state} ${inSteps}`]));
  const isHalfDone = ({ id, state, inSteps, ...lesson }: LessonRecord) =>
    lesson.task === task.name && isConfirmed.get(id) === `${state} ${!inSteps}`;
  return written.lessons.some(isHalfDone) && history.changesOf(task.name).every(({ to }) => to !== task.version);
}

/** Tells the states that the journal does not know yet: the new ones, and what a crash kept from being told. */
export function tellStates({ emit, history }: Pick<LessonPorts, 'emit' | 'history'>, book: LessonBook, task: string) {
  for (const { id, text, state, reason, ...lesson } of book.lessons) {
    const from = history.lessonState(id);
    if (lesson.task !== task || from === state) continue;
    const known = { ...(from !== undefined && { from }), ...(reason !== undefined && { reason }) };
    emit({ type: 'lesson:changed', task, id, text, to: state, ...known });
  }
}

/** Returns what the file holds now, or undefined if it changed since it was read. */
async function write(
  { documents }: LessonPorts,
  before: Shift['lessons'],
  book: LessonBook,
): Promise<Shift['lessons'] | undefined> {
  if (isSame(before.book, book)) return before;
  const text = await documents.writeLessons(before.text, book);
  return text === undefined ? undefined : { text, book };
}

export function isSame(a: LessonBook, b: LessonBook): boolean {
  if (a === b) return true;
  const isEqual = (lesson: LessonRecord, i: number) => isSameLesson(lesson, b.lessons[i]!);
  return a.next === b.next && a.lessons.length === b.lessons.length && a.lessons.every(isEqual);
}

/** Copies mostly share their fields. */
function isSameLesson(a: LessonRecord, b: LessonRecord): boolean {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof LessonRecord>;
  return [...fields].every((field) => a[field] === b[field] || JSON.stringify(a[field]) === JSON.stringify(b[field]));
}

export function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

/** Which lessons came into the Steps, with their origin (rule L4), and which left them. */
function describe(before: LessonBook, after: LessonBook) {
  const was = new Map(before.lessons.map((lesson) => [lesson.id, lesson.inSteps]));
  const added = after.lessons.filter(({ id, inSteps }) => inSteps && !was.get(id));
  const gone = after.lessons.filter(({ id, inSteps }) => !inSteps && was.get(id));
  const ids = (lessons: readonly LessonRecord[]) => lessons.map(({ id }) => id).join(', ');
  const parts = [
    ...(added.length > 0 ? [`added ${ids(added)}`] : []),
    ...(gone.length > 0 ? [`removed ${ids(gone)}`] : []),
  ];
  return { summary: parts.join('; ') || 'completed an interrupted change', lessons: added.map(originOf) };
}

function originOf({ text, support }: LessonRecord) {
  const bySupport = [...support].sort((a, b) => a.row - b.row);
  return { text, rows: bySupport.map(({ row }) => row), attempts: bySupport.map(({ attempts }) => attempts) };
}
