import { readStatus } from '../../app/status.ts';
import { EXIT } from '../../core/model/errors.ts';
import { statusLines } from '../../views/status.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { status, limits } = await readStatus(await chooseShift(io, name), io);
  if (options.json) io.print(JSON.stringify(status));
  else for (const line of statusLines(status, { limits, now: io.now() })) io.print(line);
  return EXIT.done;
}
