import { describeShift, descriptionLines } from '../../app/describe-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import { listShifts } from '../../store/folder/layout.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const root = requireRoot(io);
  const shifts = await Promise.all(listShifts(root).map((name) => describeShift(root, name, io.now())));
  if (json) io.print(JSON.stringify({ root, shifts }));
  else if (shifts.length === 0) io.print('There is no shift yet. `nightshift create NAME` makes one.');
  else for (const line of descriptionLines(shifts)) io.print(line);
  return EXIT.done;
}
