import { unarchiveShift } from '../../app/unarchive-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], { json }: Options): Promise<number> {
  const result = await unarchiveShift(io, name);
  io.print(json ? JSON.stringify(result) : `${result.shift} is back in ${result.folder}`);
  return EXIT.done;
}
