import { createShift } from '../../app/create-shift.ts';
import { describeItems, readItemsFile } from '../../app/item-source.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], options: Options): Promise<number> {
  const { agent, from, parallel, lessonsFrom } = options;
  const items = from === undefined ? undefined : await readItemsFile(io, from);
  const { folder } = await createShift(io, name, { agent, parallel, items: items?.table, lessonsFrom });
  const table = items && { rows: items.table.rowCount, columns: items.table.header };
  if (options.json) io.print(JSON.stringify({ shift: name, folder, ...table }));
  else {
    io.print(`${name} is in ${folder}`);
    if (items) io.print(`${from}: ${describeItems(items)}`);
    io.print(`Next: \`nightshift add-task ${name} TASK\` adds a task.`);
  }
  return EXIT.done;
}
