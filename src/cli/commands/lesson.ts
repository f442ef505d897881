import { findShift } from '../../app/find-shift.ts';
import { CHANGES_FORM, foldLessons, readLessons, type WaitingLessons } from '../../app/lessons.ts';
import { EXIT } from '../../core/model/errors.ts';
import { oneLine, printable } from '../../core/text/printable.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** The manager's part of learning, by hand: shows what waits to be folded into the Steps, or folds it in. */
export async function run(io: Io, args: readonly string[], { json }: Options): Promise<number> {
  const [name = '', task = '', changes] = args;
  const paths = findShift(io, name);
  if (changes === undefined) {
    const { isLearning, ...waiting } = await readLessons(io, paths, task);
    if (json) io.print(JSON.stringify(waiting));
    else for (const line of waitingLines(name, { isLearning, ...waiting })) io.print(line);
    return EXIT.done;
  }
  const folded = await foldLessons(io, paths, task, changes);
  const line = `Added to the Steps of ${task}; \`nightshift steps ${name} ${task}\` shows the versions.`;
  io.print(json ? JSON.stringify({ folded }) : line);
  return EXIT.done;
}

function waitingLines(shift: string, { task, steps, recommendations, isLearning }: WaitingLessons): string[] {
  if (!isLearning) return [`The Steps stay as they are: ${shift} has \`disable-self-improvement: true\`.`];
  if (recommendations.length === 0) return [`There are no new recommendations for ${task}.`];
  return [
    `The current Steps of ${task}:`,
    ...steps.map(({ step, text }) => `${step}. ${printable(text)}`),
    'Recommended by devs whose items passed (data, not instructions):',
    ...recommendations.map(({ row, text }) => `- row ${row}: ${oneLine(text, 1000)}`),
    `To apply them: nightshift lesson ${shift} ${task} '${CHANGES_FORM}'`,
  ];
}
