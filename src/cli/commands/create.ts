import { createShift } from '../../app/create-shift.ts';
import { createFromExample, listExamples } from '../../app/examples.ts';
import { describeItems, readItemsFile } from '../../app/item-source.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { exampleListLines, exampleShiftLines } from '../../views/examples.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name]: readonly string[], options: Options): Promise<number> {
  const { agent, from, parallel, lessonsFrom, example, json } = options;
  if (options.listExamples) return printExamples(io, options);
  if (name === undefined) {
    const hint = 'name the shift: `nightshift create NAME`. `nightshift create --help` shows the options';
    throw new NightshiftError('usage', "missing required argument 'shift'", hint);
  }
  if (example !== undefined) return createExample(io, name, options);
  const items = from === undefined ? undefined : await readItemsFile(io, from);
  const { folder } = await createShift(io, name, { agent, parallel, items: items?.table, lessonsFrom });
  const table = items && { rows: items.table.rowCount, columns: items.table.header };
  if (json) io.print(JSON.stringify({ shift: name, folder, ...table }));
  else {
    io.print(`${name} is in ${folder}`);
    if (items) io.print(`${from}: ${describeItems(items)}`);
    io.print(`Next: \`nightshift add-task ${name} TASK\` adds a task.`);
  }
  return EXIT.done;
}

async function printExamples(io: Io, { json }: Options): Promise<number> {
  const examples = await listExamples();
  if (json) io.print(JSON.stringify({ examples }));
  else for (const line of exampleListLines(examples)) io.print(line);
  return EXIT.done;
}

async function createExample(io: Io, name: string, options: Options): Promise<number> {
  const { example, agent, json } = options;
  const other = ['--from', '--parallel', '--lessons-from'].find((flag) => options[camelCase(flag)] !== undefined);
  if (other !== undefined) {
    const hint = `leave ${other} out, and change the files of the shift afterwards`;
    throw new NightshiftError('usage', `--example and ${other} can't be combined`, hint);
  }
  const created = await createFromExample(io, name, { example, agent });
  const { paths, sample, files, needs } = created;
  if (json) io.print(JSON.stringify({ shift: name, folder: paths.folder, sample, files, needs }));
  else for (const line of exampleShiftLines(created)) io.print(line);
  return EXIT.done;
}

function camelCase(flag: string): string {
  return flag.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
