import { resumeShift } from '../../app/pause-run.ts';
import { EXIT } from '../../core/model/errors.ts';
import { resumedLine } from '../../views/pause.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Lifts the pause of a shift; its run continues, if there is one. */
export async function run(io: Io, [name]: readonly string[], { json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const resumed = await resumeShift(paths);
  const { wasPaused, running } = resumed;
  if (json) io.print(JSON.stringify({ shift: paths.name, resumed: wasPaused, running }));
  else io.print(resumedLine(paths.name, resumed));
  return EXIT.done;
}
