import { archiveShift } from '../../app/archive-shift.ts';
import { findShift } from '../../app/find-shift.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], { force, json }: Options): Promise<number> {
  const folder = await archiveShift(io, findShift(io, name), force);
  io.print(json ? JSON.stringify({ shift: name, folder }) : `${name} is in ${folder}`);
  return EXIT.done;
}
