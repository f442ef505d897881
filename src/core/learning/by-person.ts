import { changeOf, Draft, moved } from './draft.ts';
import { isApplied, type LessonBook, type LessonChange, type LessonRecord, type LessonState } from './lesson.ts';
import { asLesson, isCovered } from './wording.ts';

/** Write the lessons, then `reconcile` the Steps. `refused`: why it makes no sense. */
export type Decision = { readonly book: LessonBook; readonly change: LessonChange } | { readonly refused: string };

export type PersonsVerb = 'accept' | 'reject' | 'pin' | 'ban' | 'undo';

interface DecisionDetails {
  readonly now: string;
  readonly reason?: string;
}

/** What a person decides about a lesson. */
export function decide(book: LessonBook, verb: PersonsVerb, id: string, details: DecisionDetails): Decision {
  const lesson = book.lessons.find((each) => each.id === id);
  if (lesson === undefined) return { refused: `there is no lesson ${id}` };
  const decided = verb === 'undo' ? undone(lesson, details.now) : judged(lesson, verb, details);
  if (typeof decided === 'string') return { refused: decided };
  const lessons = book.lessons.map((each) => (each.id === id ? decided : each));
  return { book: { ...book, lessons }, change: changeOf(lesson, decided) };
}

const RESULT = { accept: 'firm', reject: 'banned', pin: 'pinned', ban: 'banned' } as const;
const DEFAULT_REASON = { reject: 'rejected by a person', ban: 'banned by a person' };

function judged(
  lesson: LessonRecord,
  verb: Exclude<PersonsVerb, 'undo'>,
  { now, reason }: DecisionDetails,
): LessonRecord | string {
  const { id, state } = lesson;
  if (state === RESULT[verb]) return `lesson ${id} is already ${state}`;
  if (state === 'banned') return `lesson ${id} is banned; undo that first`;
  if (verb === 'accept' && isApplied(lesson)) return `lesson ${id} is already in the Steps`;
  if (verb === 'reject' && isApplied(lesson)) return `lesson ${id} is in the Steps; ban it to remove it`;
  if (verb === 'accept' || verb === 'pin') return { ...moved(lesson, RESULT[verb], { now }), by: 'person' };
  return moved(lesson, RESULT[verb], { now, reason: reason ?? DEFAULT_REASON[verb] });
}

function undone(lesson: LessonRecord, now: string): LessonRecord | string {
  const { id, previous } = lesson;
  if (previous === undefined) return `lesson ${id} has no earlier state`;
  return moved(lesson, previous.state, { now, reason: previous.reason });
}

interface NewLesson {
  readonly task: string;
  readonly text: string;
  readonly now: string;
  readonly authorSteps: readonly string[];
}

/** `lessons add`: firm at once. */
export function addLesson(book: LessonBook, lesson: NewLesson): Decision {
  return added(book, lesson, 'firm', { by: 'person' });
}

/** `create --lessons-from`: waits, with the shift it comes from. */
export function adoptLesson(book: LessonBook, lesson: NewLesson & { readonly from: string }): Decision {
  return added(book, lesson, 'waiting', { from: lesson.from });
}

function added(
  book: LessonBook,
  lesson: NewLesson,
  state: LessonState,
  origin: { readonly by?: 'person'; readonly from?: string },
): Decision {
  const text = asLesson(lesson.text);
  if (text === '') return { refused: 'the lesson has no text' };
  const draft = new Draft(book, lesson);
  const known = draft.saying([text]);
  if (known) return { refused: `lesson ${known.id} (${known.state}) already says that: ${known.text}` };
  if (isCovered(text, lesson.authorSteps)) return { refused: 'the Steps already say that' };
  const record = draft.add({ text, ...origin }, state);
  return { book: draft.book(), change: changeOf(undefined, record) };
}
