import { LESSON_STATES, type LessonBook, type LessonRecord, NO_LESSONS } from '../core/learning/lesson.ts';
import { NightshiftError } from '../core/model/errors.ts';

/** The content of `lessons.json`. */
export interface LessonsDocument {
  /** Undefined: there is no such file. */
  readonly text: string | undefined;
  readonly book: LessonBook;
}

export const NO_LESSONS_FILE: LessonsDocument = { text: undefined, book: NO_LESSONS };

export function renderLessons(book: LessonBook): string {
  return `${JSON.stringify(book, undefined, 2)}\n`;
}

/** Throws `bad-lessons`. Nothing is dropped: a file that can't be read may hold decisions of a person. */
export function parseLessons(text: string | undefined, file: string): LessonsDocument {
  if (text === undefined) return NO_LESSONS_FILE;
  const book = parseJson(text, file);
  const fail = (problem: string, line = 1) => new NightshiftError('bad-lessons', problem, HINT, { file, line });
  if (!isObject(book) || book.version !== 1) throw fail('lessons.json has no `"version": 1`');
  if (!isCount(book.next) || !Array.isArray(book.lessons)) throw fail('lessons.json has no `next` or no `lessons`');
  const known = new Set<string>();
  for (const [i, record] of book.lessons.entries()) {
    const id = isObject(record) && isText(record.id) ? record.id : undefined;
    const name = id === undefined ? `lesson ${i + 1} of the list` : `lesson ${id}`;
    if (id === undefined || !/^L[1-9]\d*$/.test(id)) throw fail(`${name} has no id such as L1`);
    if (known.has(id)) throw fail(`the id ${id} is there twice`, lineOf(text, id, true));
    if (Number(id.slice(1)) >= book.next) throw fail(`${name} is newer than \`next\` (${book.next})`, lineOf(text, id));
    const wrong = Object.entries(FIELDS).find(([field, fits]) => !fits((record as Fields)[field]));
    if (wrong) throw fail(`${name} has no valid \`${wrong[0]}\``, lineOf(text, id));
    known.add(id);
  }
  return { text, book: book as unknown as LessonBook };
}

const HINT = 'restore the file from your version control, or remove the entry';

type Fields = Readonly<Record<string, unknown>>;

const FIELDS: Readonly<Record<keyof LessonRecord, (value: unknown) => boolean>> = {
  id: isText,
  task: isText,
  text: (value) => isText(value) && value.trim() !== '',
  state: isState,
  since: isText,
  reason: isAbsentOr(isText),
  inSteps: (value) => typeof value === 'boolean',
  after: isAbsentOr((value) => value === 0 || isCount(value)),
  wordings: isAbsentOr((value) => Array.isArray(value) && value.every(isText)),
  ungrouped: isAbsentOr((value) => typeof value === 'boolean'),
  support: isVotes('agent'),
  credit: isVotes(),
  blame: isVotes('reason'),
  freshFrom: isAbsentOr(isText),
  retirements: isAbsentOr(isCount),
  by: isAbsentOr((value) => value === 'person'),
  from: isAbsentOr(isText),
  previous: isAbsentOr((value) => isObject(value) && isState(value.state) && isText(value.since)),
};

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = Number(/position (\d+)/.exec((error as Error).message)?.[1] ?? text.length);
    const line = text.slice(0, position).split('\n').length;
    throw new NightshiftError('bad-lessons', 'lessons.json is not valid JSON', HINT, { file, line });
  }
}

/** Where the record with this id begins; `isSecond`: the second one. */
function lineOf(text: string, id: string, isSecond = false): number {
  const name = `"id": ${JSON.stringify(id)}`;
  const first = text.indexOf(name);
  const at = isSecond ? text.indexOf(name, first + 1) : first;
  return at === -1 ? 1 : text.slice(0, at).split('\n').length;
}

function isVotes(field?: string): (value: unknown) => boolean {
  const isVote = (value: unknown) =>
    isObject(value) && isText(value.item) && isCount(value.row) && isText(value.at) && (!field || isText(value[field]));
  return (value) => Array.isArray(value) && value.every(isVote);
}

function isState(value: unknown): boolean {
  return LESSON_STATES.some((state) => state === value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function isAbsentOr(fits: (value: unknown) => boolean): (value: unknown) => boolean {
  return (value) => value === undefined || fits(value);
}
