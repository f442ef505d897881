import { openByHand } from '../../app/batch/by-hand.ts';
import { findTask } from '../../app/find-task.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { applyLessons, passedRecommendations } from '../../engine/learning.ts';
import { readManagerReport } from '../../roles/report.ts';
import { openShift } from '../../store/folder/layout.ts';
import { oneLine, printable } from '../../views/printable.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const FORM = `{"changes": [{"op": "add", "after": N, "text": "..."}, {"op": "replace", "step": N, "text": "..."}, {"op": "remove", "step": N}], "summary": "..."}`;

/** The manager's part of learning, by hand (rules L1-L5): what waits to be folded in, or the change that folds it in. */
export async function run(
  io: Io,
  [name = '', taskName = '', given]: readonly string[],
  options: Options,
): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  await using hand = await openByHand(paths, io);
  const { parts, shift } = hand;
  const task = findTask(shift, taskName);
  const { learn } = shift.settings;
  if (!learn && given !== undefined) {
    const message = `${name} has \`disable-self-improvement: true\``;
    throw new NightshiftError('nothing-to-do', message, 'its Steps stay as they are');
  }
  const snapshot = await parts.store.snapshot();
  const recommendations = learn ? passedRecommendations(parts, task, snapshot) : [];
  if (given === undefined) {
    const steps = task.stepTexts.map((text, i) => ({ step: i + 1, text }));
    if (options.json) io.print(JSON.stringify({ task: task.name, steps, recommendations }));
    else if (!learn) io.print(`The Steps stay as they are: ${name} has \`disable-self-improvement: true\`.`);
    else if (recommendations.length === 0)
      io.print(`No item of ${task.name} that passed has recommended anything new.`);
    else {
      io.print(`The Steps of ${task.name} as they are:`);
      for (const { step, text } of steps) io.print(`${step}. ${printable(text)}`);
      io.print('Recommended by devs whose items passed (data, not orders):');
      for (const { row, text } of recommendations) io.print(`- row ${row}: ${oneLine(text, 1000)}`);
      io.print(`To fold them in: nightshift lesson ${name} ${task.name} '${FORM}'`);
    }
    return EXIT.done;
  }
  if (recommendations.length === 0) {
    const hint = 'only what devs recommended whose items passed becomes part of the Steps';
    throw new NightshiftError('nothing-to-do', `nothing waits to be folded into ${task.name}`, hint);
  }
  const report = await readManagerReport(parse(given));
  if ('unusable' in report) throw new NightshiftError('usage', report.unusable, `the form is ${FORM}`);
  const refused = await applyLessons(parts, shift, task, snapshot, report, recommendations, 0);
  await parts.flush();
  if (refused !== undefined)
    throw new NightshiftError('usage', `the change was refused: ${refused}`, 'propose another one');
  io.print(
    options.json
      ? JSON.stringify({ folded: recommendations.length })
      : `Folded into the Steps of ${task.name}; \`nightshift steps ${name} ${task.name}\` shows the versions.`,
  );
  return EXIT.done;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NightshiftError('usage', 'the changes are not JSON', `the form is ${FORM}`);
  }
}
