import { expect, test } from 'vitest';
import type { LessonBook, LessonRecord } from '../core/learning/lesson.ts';
import { parseLessons, renderLessons } from './lessons.ts';

const at = '2026-01-01T00:00:00.000Z';
const lesson: LessonRecord = {
  id: 'L2',
  task: 'work',
  text: 'Knock first',
  state: 'firm',
  since: at,
  inSteps: true,
  after: 0,
  support: [{ item: 'a', row: 1, at, attempts: 2, agent: 'command', model: 'm' }],
  credit: [{ item: 'b', row: 2, at }],
  blame: [{ item: 'c', row: 3, at, reason: 'nobody opens' }],
  by: 'person',
  previous: { state: 'held', since: at, reason: 'names a host' },
};
const book: LessonBook = { version: 1, next: 3, lessons: [lesson] };
const other = (change: object) => renderLessons({ ...book, lessons: [{ ...lesson, ...change }] });

test('L4 lessons.json is read as it was written, and no file means no lessons', () => {
  expect(parseLessons(renderLessons(book), 'f')).toEqual({ text: renderLessons(book), book });
  expect(parseLessons(undefined, 'f').book).toEqual({ version: 1, next: 1, lessons: [] });
});

test.each([
  ['lessons.json is not valid JSON', '{\n  "version": 1,\n  oops\n}', 3],
  ['lessons.json has no `"version": 1`', '{}', 1],
  ['lessons.json has no `next` or no `lessons`', '{"version": 1, "lessons": []}', 1],
  ['lesson 1 of the list has no id such as L1', other({ id: 7 }), 1],
  ['lesson L2 is newer than `next` (2)', renderLessons({ ...book, next: 2 }), 6],
  ['the id L2 is there twice', renderLessons({ ...book, lessons: [lesson, lesson] }), 46],
  ['lesson L2 has no valid `state`', other({ state: 'good' }), 6],
  ['lesson L2 has no valid `text`', other({ text: ' ' }), 6],
  ['lesson L2 has no valid `support`', other({ support: [{ item: 'a' }] }), 6],
  ['lesson L2 has no valid `blame`', other({ blame: lesson.credit }), 6],
])('L4 a broken lessons.json is an error with its line: %s', (message, text, line) => {
  expect(() => parseLessons(text, 'f')).toThrow(
    expect.objectContaining({ code: 'bad-lessons', message, line, file: 'f' }),
  );
});
