import { describeShifts } from '../../app/describe-shift.ts';
import { requireRoot } from '../../app/find-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import { shiftListLines } from '../../views/shift-list.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const root = requireRoot(io);
  const shifts = await describeShifts(root, io.now());
  if (json) io.print(JSON.stringify({ root, shifts }));
  else if (shifts.length === 0) io.print('There is no shift yet. `nightshift create NAME` creates one.');
  else for (const line of shiftListLines(shifts)) io.print(line);
  return EXIT.done;
}
