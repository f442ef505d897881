import { NightshiftError } from '../core/model/errors.ts';
import { parseEnv } from './env.ts';
import { parseLessons } from './lessons.ts';
import { parseTask, type TaskDocument } from './task.ts';

/** Describes what an edit changed. Never quotes a file: `.env` must not be printed, and a task may be long. */

const SECTIONS = ['configuration', 'steps', 'validation'] as const;

export function taskEditText(before: string, after: string): string {
  const [was, is] = [attempt(() => parseTask(before, '')), attempt(() => parseTask(after, ''))];
  if (is instanceof NightshiftError) return `it can't be read: ${is.message}`;
  if (was instanceof NightshiftError) return 'all of it';
  const changed = SECTIONS.filter((name) => bodyOf(was, name) !== bodyOf(is, name));
  if (changed.length === 0) return 'text outside of its sections';
  return changed.map((name) => name[0]!.toUpperCase() + name.slice(1)).join(', ');
}

/** Lists the names of variables, never their values. */
export function envEditText(before: string, after: string): string {
  const [was, is] = [attempt(() => parseEnv(before, '')), attempt(() => parseEnv(after, ''))];
  if (is instanceof NightshiftError) return `it can't be read: ${is.message}`;
  if (was instanceof NightshiftError) return 'all of it';
  const added = [...is.keys()].filter((name) => !was.has(name));
  const removed = [...was.keys()].filter((name) => !is.has(name));
  const changed = [...is].filter(([name, value]) => was.has(name) && was.get(name) !== value).map(([name]) => name);
  const parts = Object.entries({ added, changed, removed }).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${names.join(', ')} ${what}`],
  );
  return parts.join('; ') || 'comments or spacing';
}

/** Lists the ids of lessons. */
export function lessonsEditText(before: string | undefined, after: string): string {
  const [was, is] = [attempt(() => parseLessons(before, '')), attempt(() => parseLessons(after, ''))];
  if (is instanceof NightshiftError) return `it can't be read: ${is.message}`;
  if (was instanceof NightshiftError) return 'all of it';
  const texts = new Map(was.book.lessons.map((lesson) => [lesson.id, JSON.stringify(lesson)]));
  const changed = is.book.lessons.filter((lesson) => texts.get(lesson.id) !== JSON.stringify(lesson));
  const left = new Set(is.book.lessons.map(({ id }) => id));
  const ids = [...changed.map(({ id }) => id), ...[...texts.keys()].filter((id) => !left.has(id))];
  return ids.length === 0 ? 'its spacing' : `lessons ${ids.join(', ')}`;
}

function bodyOf({ text, sections }: TaskDocument, name: (typeof SECTIONS)[number]): string {
  return text.slice(sections[name].start, sections[name].end).trimEnd();
}

function attempt<T>(parse: () => T): T | NightshiftError {
  try {
    return parse();
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
}
