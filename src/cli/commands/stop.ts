import { findRun, readAfterStop, stopRun } from '../../app/stop-run.ts';
import { EXIT } from '../../core/model/errors.ts';
import { stoppedLines } from '../../views/stop.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/**
 * Asks the run of a shift to end, as Ctrl-C does (`--now`: as a second one does), and waits for it. `--leave`: its items
 * stay with the workers of a fleet.
 */
export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { now = false, leave = false, json } = options;
  const paths = await chooseShift(io, name);
  const holder = await findRun(paths);
  if (!holder) {
    if (json) io.print(JSON.stringify({ shift: paths.name, stopped: false, running: null }));
    else io.print(`${paths.name} is not running: there is nothing to stop.`);
    return EXIT.done;
  }
  const { pid, run } = holder;
  // What is refused is not announced.
  if (!json && !leave) io.print(announcement(paths.name, pid, now));
  const stopped = await stopRun(paths, holder, { now, leave }, io);
  if (json) {
    const { exitCode = null, reason = null, left } = stopped.end ?? {};
    io.print(JSON.stringify({ shift: paths.name, stopped: true, pid, run, exitCode, reason, left }));
    return EXIT.done;
  }
  const after = await readAfterStop(io, paths);
  for (const line of stoppedLines(paths.name, stopped.end, after)) io.print(line);
  return EXIT.done;
}

function announcement(shift: string, pid: number, now: boolean): string {
  if (now) return `stopping process ${pid} at once: running items are given back`;
  return `stopping process ${pid} when running items have finished (\`nightshift stop ${shift} --now\`: at once)`;
}
