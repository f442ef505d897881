import { readOverview } from '../../app/overview.ts';
import { EXIT } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { shiftListLines } from '../../views/shift-list.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

/** `nightshift` alone: what is here, and what to do next. */
export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const overview = await readOverview(io);
  if (json) {
    io.print(JSON.stringify(overview));
    return EXIT.done;
  }
  const { root, shifts, next } = overview;
  if (shifts.length === 0) io.print(`There is no shift in ${root ?? io.cwd} yet.`);
  else {
    io.print(`${count(shifts.length, 'shift')} in ${root}:`);
    for (const line of shiftListLines(shifts)) io.print(`  ${line}`);
  }
  io.print('');
  io.print('Next:');
  const all = [...next, { command: 'nightshift --help', does: 'shows all commands' }];
  const width = Math.max(...all.map(({ command }) => command.length));
  for (const { command, does } of all) io.print(`  ${command.padEnd(width)}  ${does}`);
  return EXIT.done;
}
