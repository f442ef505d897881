import { EXIT, NightshiftError } from '../../core/errors.ts';
import { countItems } from '../../core/plan.ts';
import { listShifts, openShift } from '../../store/layout.ts';
import { currentHolder } from '../../store/run-lock.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import { openAndCheck } from '../open-shift.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const root = requireRoot(io);
  const shifts = await Promise.all(listShifts(root).map((name) => describe(root, name)));
  if (json) io.print(JSON.stringify({ root, shifts }));
  else if (shifts.length === 0) io.print('There is no shift yet. `nightshift create NAME` makes one.');
  else {
    const width = Math.max(...shifts.map(({ name }) => name.length));
    for (const shift of shifts) {
      const { name } = shift;
      if ('problem' in shift) io.print(`${name.padEnd(width)}  ${shift.problem}`);
      else {
        const { completed, total, failed } = shift.counts;
        io.print(
          `${name.padEnd(width)}  ${completed}/${total} completed, ${failed} failed${shift.running ? ', running' : ''}`,
        );
      }
    }
  }
  return EXIT.done;
}

/** One shift with a problem must not hide the others. */
async function describe(root: string, name: string) {
  try {
    const paths = openShift(root, name);
    const { snapshot } = await openAndCheck(paths);
    return { name, counts: countItems(snapshot), running: currentHolder(paths.runLock) !== undefined };
  } catch (error) {
    if (!(error instanceof NightshiftError)) throw error;
    return { name, problem: error.message };
  }
}
