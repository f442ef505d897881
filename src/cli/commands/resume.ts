import { resumeShift } from '../../app/pause-run.ts';
import { EXIT } from '../../core/model/errors.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Lifts the pause of a shift; its run continues, if there is one. */
export async function run(io: Io, [name]: readonly string[], { json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const { name: shift } = paths;
  const { wasPaused, running } = await resumeShift(paths);
  if (json) io.print(JSON.stringify({ shift, resumed: wasPaused, running }));
  else if (!wasPaused) io.print(`${shift} is not paused.`);
  else if (running) io.print(`${shift} continues in process ${running.pid}.`);
  else io.print(`${shift} is not paused any more. It is not being run: \`nightshift start ${shift}\` runs it.`);
  return EXIT.done;
}
