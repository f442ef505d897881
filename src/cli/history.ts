import { History } from '../core/history.ts';
import type { Spent } from '../core/limits.ts';
import { readJournal } from '../store/journal.ts';
import type { ShiftPaths } from '../store/layout.ts';
import { howToGoOn } from './command-line.ts';

export async function readHistory(paths: ShiftPaths): Promise<History> {
  const history = new History();
  for await (const event of readJournal(paths.journal)) history.add(event);
  return history;
}

/** What counts for the limits of a run that has not begun. */
export async function spentBefore(paths: ShiftPaths): Promise<Spent> {
  return spentIn(await readHistory(paths));
}

export function spentIn({ usage, tally }: History): Spent {
  return { usage, ms: tally.ms, failures: 0 };
}

/** How to go on with a run, as `start` itself says it. */
export async function howToGoOnWith(paths: ShiftPaths, run: string): Promise<string> {
  for await (const event of readJournal(paths.journal)) {
    if (event.run === run && event.type === 'run:started') return howToGoOn(paths.name, event.flags);
  }
  return howToGoOn(paths.name);
}
