import { createShift } from '../../app/create-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], options: Options): Promise<number> {
  const { agent, from, parallel, lessonsFrom } = options;
  const { folder } = await createShift(io, name, { agent, parallel, from, lessonsFrom });
  if (options.json) io.print(JSON.stringify({ shift: name, folder }));
  else {
    io.print(`${name} is in ${folder}`);
    io.print(`Next: \`nightshift add-task ${name} TASK\` adds a task.`);
  }
  return EXIT.done;
}
