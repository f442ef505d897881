import { findShift } from '../../app/find-shift.ts';
import { readItem } from '../../app/read-item.ts';
import { EXIT } from '../../core/model/errors.ts';
import { itemLines } from '../../views/item.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', row = '', task]: readonly string[], options: Options): Promise<number> {
  const paths = findShift(io, name);
  const item = await readItem(io, paths, row, task);
  if (options.json) io.print(JSON.stringify(item));
  else for (const line of itemLines(paths.root, item, io.now())) io.print(line);
  return EXIT.done;
}
