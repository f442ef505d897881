import { History } from '../core/history.ts';
import { readJournal } from '../store/journal.ts';
import type { ShiftPaths } from '../store/layout.ts';

export async function readHistory(paths: ShiftPaths): Promise<History> {
  const history = new History();
  for await (const event of readJournal(paths.journal)) history.add(event);
  return history;
}
