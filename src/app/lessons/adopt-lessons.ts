import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { adoptLesson } from '../../core/learning/by-person.ts';
import { isApplied, type LessonBook, NO_LESSONS } from '../../core/learning/lesson.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { parseLessons } from '../../formats/lessons.ts';
import { readDocument } from '../../store/folder/documents/document-text.ts';
import { archiveFolder } from '../../store/folder/layout.ts';
import { findShift, requireRoot } from '../find-shift.ts';
import type { World } from '../world.ts';

/** The lessons in the Steps of another shift, also of an archived one: they wait in the new shift. */
export function lessonsFrom(world: World, shift: string): LessonBook {
  const file = lessonsFile(world, shift);
  const { book } = parseLessons(existsSync(file) ? readDocument(file) : undefined, file);
  const now = new Date(world.now()).toISOString();
  const applied = book.lessons.filter(isApplied);
  if (applied.length === 0) {
    const hint = `\`nightshift lessons ${shift}\` shows its lessons`;
    throw new NightshiftError('nothing-to-do', `${shift} has no lesson in its Steps`, hint);
  }
  return applied.reduce((adopted, { task, text }) => {
    const decision = adoptLesson(adopted, { task, text, now, authorSteps: [], from: shift });
    return 'refused' in decision ? adopted : decision.book;
  }, NO_LESSONS);
}

function lessonsFile(world: World, shift: string): string {
  const archived = join(archiveFolder(requireRoot(world)), shift, 'lessons.json');
  return /^[\w-]+$/.test(shift) && existsSync(archived) ? archived : findShift(world, shift).lessons;
}
