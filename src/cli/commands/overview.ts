import { EXIT } from '../../core/errors.ts';
import { findRoot, listShifts } from '../../store/layout.ts';
import { type Description, describeShift, descriptionLines } from '../describe-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

interface Next {
  readonly command: string;
  readonly does: string;
}

const BEGIN: readonly Next[] = [
  { command: 'nightshift demo', does: 'makes a small project and runs a real shift over it' },
  { command: 'nightshift create NAME --from FILE.csv', does: 'makes a shift of your own' },
];
const NEXT_SHOWN = 4;

/** `nightshift` alone: what is here, and what to do next. */
export async function run(io: Io, _args: readonly string[], { json }: Options): Promise<number> {
  const root = findRoot(io.cwd);
  const names = root === undefined ? [] : listShifts(root);
  const shifts = await Promise.all(names.map((name) => describeShift(root!, name, io.now())));
  const next = shifts.length === 0 ? BEGIN : [...shifts.map(nextOf)].slice(0, NEXT_SHOWN);
  if (json) {
    io.print(JSON.stringify({ root: root ?? null, shifts, next }));
    return EXIT.done;
  }
  if (shifts.length === 0) io.print(`There is no shift in ${root ?? io.cwd} yet.`);
  else {
    io.print(`${shifts.length === 1 ? '1 shift' : `${shifts.length} shifts`} in ${root}:`);
    for (const line of descriptionLines(shifts)) io.print(`  ${line}`);
  }
  io.print('');
  io.print('Next:');
  const all = [...next, { command: 'nightshift --help', does: 'shows all commands' }];
  const width = Math.max(...all.map(({ command }) => command.length));
  for (const { command, does } of all) io.print(`  ${command.padEnd(width)}  ${does}`);
  return EXIT.done;
}

function nextOf(shift: Description): Next {
  const { name } = shift;
  if ('problem' in shift) return { command: 'nightshift doctor', does: `says what to do about ${name}` };
  const { total, completed, failed, remaining } = shift.counts;
  if (shift.running) return { command: `nightshift status ${name}`, does: 'shows how far the run is' };
  if (shift.hasOpenBatch) {
    return {
      command: `nightshift batch close ${name}`,
      does: 'closes the batch that is open, when its items have ended',
    };
  }
  if (shift.tasks === 0) return { command: `nightshift add-task ${name} TASK`, does: 'adds what is to be done' };
  if (total === 0) return { command: `nightshift table ${name} import FILE.csv`, does: 'adds items' };
  if (completed === total) return { command: `nightshift archive ${name}`, does: 'puts it away: all is done' };
  if (remaining > 0) {
    return { command: `nightshift start ${name}`, does: completed + failed > 0 ? 'goes on with it' : 'runs it' };
  }
  return { command: `nightshift status ${name}`, does: 'says why items failed; `retry` tries them again' };
}
