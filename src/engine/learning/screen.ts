import { createScreen, type Screen } from '../../core/learning/screen/screen.ts';
import { allRows, type LessonMaterial } from './recommendations.ts';

/** Why a lesson may not stand in the Steps beside others (rule L3). `texts`: what was recommended. */
export function screenFor(
  { shift, task, snapshot }: LessonMaterial,
  author: readonly string[],
  texts: readonly string[],
): Screen {
  const known = shift.lessons.book.lessons.filter((lesson) => lesson.task === task.name);
  const screen = createScreen({
    authorSteps: author,
    columns: new Set(snapshot.header),
    secrets: Object.values(shift.secrets),
    rows: allRows(snapshot),
    texts: [...texts, ...known.map(({ text }) => text)],
  });
  // What an agent says is masked before it gets here.
  const masks = Object.keys(shift.secrets).map((name) => `[${name}]`);
  return (text, others) => (masks.some((mask) => text.includes(mask)) ? 'holds a secret' : screen(text, others));
}
