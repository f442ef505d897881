import { pauseRun } from '../../app/pause-run.ts';
import { EXIT } from '../../core/model/errors.ts';
import { pauseText } from '../../views/plain.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Pauses the run of a shift: running items finish, or with `--now` are given back; then it waits for `resume`. */
export async function run(io: Io, [name]: readonly string[], { now = false, json }: Options): Promise<number> {
  const paths = await chooseShift(io, name);
  const { name: shift } = paths;
  const { running, since = null, items = 0 } = await pauseRun(paths, now, io);
  const resume = `\`nightshift resume ${shift}\` continues.`;
  if (json) io.print(JSON.stringify({ shift, paused: since !== null, since, running, items }));
  else if (running && since) io.print(`${shift} is ${pauseText({ since, items, now })}. ${resume}`);
  else if (since) io.print(`${shift} is not being run, and paused since ${since}. ${resume}`);
  else io.print(`${shift} is not being run: there is nothing to pause.`);
  return EXIT.done;
}
