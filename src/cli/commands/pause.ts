import { pauseRun } from '../../app/pause-run.ts';
import { EXIT } from '../../core/model/errors.ts';
import { pausedLine } from '../../views/pause.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Pauses the run of a shift: running items finish, or with `--now` are given back; then it waits for `resume`. */
export async function run(io: Io, [name]: readonly string[], { now = false, json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const paused = await pauseRun(paths, now, io);
  const { running, since = null, items = 0 } = paused;
  if (json) io.print(JSON.stringify({ shift: paths.name, paused: since !== null, since, running, items }));
  else io.print(pausedLine(paths.name, { ...paused, now }, io.now()));
  return EXIT.done;
}
