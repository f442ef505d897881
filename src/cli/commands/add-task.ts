import { addTask } from '../../app/add-task.ts';
import { findShift } from '../../app/find-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import { taskNameFor } from '../../core/model/names.ts';
import { oneLine } from '../../core/text/printable.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', given = '']: readonly string[], options: Options): Promise<number> {
  const { from, json } = options;
  const task = taskNameFor(given);
  const { file, warnings } = await addTask(io, findShift(io, name), task, { from });
  for (const warning of warnings) io.warn(`warning: ${oneLine(warning)}`);
  if (json) io.print(JSON.stringify({ shift: name, task, file }));
  else {
    if (task !== given)
      io.print(`The task is called ${task}: task names have underscores, because they name a column.`);
    const preview = `\`nightshift preview ${name} ${task} --row 1\``;
    io.print(`${task} is in ${file}, and has its column in the table.`);
    io.print(
      from === undefined
        ? `Next: write its Steps and Validation, then try it: ${preview}`
        : `Next: ${preview} shows the prompt, \`nightshift start ${name}\` runs it.`,
    );
  }
  return EXIT.done;
}
