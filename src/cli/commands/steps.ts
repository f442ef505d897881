import { findShift } from '../../app/find-shift.ts';
import { diffSteps, listSteps, restoreSteps } from '../../app/steps.ts';
import { EXIT } from '../../core/model/errors.ts';
import { printable } from '../../core/text/printable.ts';
import { stepsLines } from '../../views/steps.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** Rule L4: the versions of a task's Steps, where each came from, and the way back. */
export async function run(io: Io, [name = '', task = '']: readonly string[], options: Options): Promise<number> {
  const { json, restore, diff } = options;
  const paths = findShift(io, name);
  if (restore !== undefined) {
    const restored = await restoreSteps(io, paths, task, restore);
    io.print(json ? JSON.stringify({ restored }) : `Restored the Steps of version ${restore}.`);
  } else if (diff !== undefined) {
    const lines = await diffSteps(paths, task, diff);
    io.print(json ? JSON.stringify({ diff: lines }) : lines.map(printable).join('\n'));
  } else {
    const versions = await listSteps(io, paths, task);
    if (json) io.print(JSON.stringify({ task, versions }));
    else for (const line of stepsLines(task, versions, io.now())) io.print(line);
  }
  return EXIT.done;
}
