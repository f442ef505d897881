import { placeholdersIn } from '../../core/language/template.ts';
import { checkLessons } from '../../core/learning/lessons.ts';
import type { LessonMaterial } from './recommendations.ts';

/** Why a lesson may not stand in the Steps beside others (rule L3). */
export function screenFor(
  { shift, snapshot }: LessonMaterial,
  author: readonly string[],
): (text: string, others: readonly string[]) => string | undefined {
  const columns = new Set(snapshot.header);
  return (text, others) => {
    const before = [...author, ...others];
    return checkLessons({
      before,
      after: [...before, text],
      placeholdersOf: (step) => placeholdersIn(step, columns),
      secrets: Object.values(shift.secrets),
      rows: allRows(snapshot),
    });
  };
}

function* allRows({ count, metadata }: LessonMaterial['snapshot']): Iterable<Record<string, string>> {
  for (let row = 0; row < count; row++) yield metadata(row);
}
