import { findShift, type ShiftPaths } from '../../app/find-shift.ts';
import { addByPerson, judgeLessons } from '../../app/lessons/decide-lessons.ts';
import { listLessons } from '../../app/lessons/list-lessons.ts';
import type { LessonChange } from '../../core/learning/lesson.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { changeLine, lessonLines, lessonsMarkdown } from '../../views/lessons.ts';
import type { Io } from '../io.ts';
import { JUDGING_VERBS } from '../lesson-verbs.ts';
import type { Options } from '../program.ts';

/** What was learned, and what a person decides about it. */
export async function run(io: Io, [name = '', ...words]: readonly string[], options: Options): Promise<number> {
  const paths = findShift(io, name);
  const [verb = '', ...rest] = words;
  const changes = await change(io, paths, words, options);
  if (changes) {
    if (options.json) io.print(JSON.stringify({ changes }));
    else for (const each of changes) io.print(changeLine(each));
    return EXIT.done;
  }
  const isExport = verb === 'export';
  const [task, ...more] = isExport ? [options.task, ...rest] : [options.task ?? words[0], ...rest];
  if (more.length > 0) throw wrong(`${JSON.stringify(more[0])} is one word too many`);
  const list = await listLessons(io, paths, task);
  if (options.json) io.print(JSON.stringify(list));
  else for (const line of isExport ? lessonsMarkdown(list) : lessonLines(list, io.now())) io.print(line);
  return EXIT.done;
}

/** Undefined if the words ask for no change. */
async function change(
  io: Io,
  paths: ShiftPaths,
  [first, ...rest]: readonly string[],
  { task, reason }: Options,
): Promise<readonly LessonChange[] | undefined> {
  if (first === 'add') {
    const [text, ...more] = rest;
    if (text === undefined || more.length > 0) throw wrong('`add` takes the text of one lesson');
    return addByPerson(io, paths, { text, task });
  }
  const verb = JUDGING_VERBS.find((each) => each === first);
  if (verb === undefined) return undefined;
  if (rest.length === 0) throw wrong(`\`${verb}\` takes the id of a lesson, such as L1`);
  return judgeLessons(io, paths, { verb, ids: rest, reason });
}

function wrong(message: string): NightshiftError {
  return new NightshiftError('usage', message, 'quote a text; `nightshift lessons --help` shows all forms');
}
