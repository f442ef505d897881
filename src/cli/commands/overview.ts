import { type Description, describeShift, descriptionLines } from '../../app/describe-shift.ts';
import { findNext } from '../../app/next-command.ts';
import { EXIT } from '../../core/model/errors.ts';
import { findRoot, listShifts, openShift } from '../../store/folder/layout.ts';
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
  const shown = shifts.slice(0, NEXT_SHOWN);
  const next = shifts.length === 0 ? BEGIN : await Promise.all(shown.map((shift) => nextOf(io, root!, shift)));
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

async function nextOf(io: Io, root: string, shift: Description): Promise<Next> {
  const { name } = shift;
  if ('problem' in shift) return { command: 'nightshift doctor', does: `says what to do about ${name}` };
  const { total, completed, remaining } = shift.counts;
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
    // One that was stopped is continued within its limits.
    const next = await findNext(openShift(root, name), io);
    if (next?.does === 'continue') return { command: next.command, does: 'continues it' };
    return { command: `nightshift start ${name}`, does: next || completed > 0 ? 'continues it' : 'runs it' };
  }
  return { command: `nightshift status ${name}`, does: 'says why items failed; `retry` tries them again' };
}
