import { isStatus } from '../core/status.ts';
import { journalEnd, type Position, readSince } from './journal-files.ts';

/** Statuses that a person changed with a command: `table edit` and `reset` leave a line in the journal. */
export interface Sanctioned {
  has(item: string, task: string, to: string): boolean;
  /** Where the journal ended when it was read. */
  readonly end: Position | undefined;
}

export async function readSanctioned(journal: string, from: Position | undefined): Promise<Sanctioned> {
  const cells = new Set<string>();
  const end = journalEnd(journal);
  for await (const event of readSince(journal, from, ['"table:edited"'])) {
    if (event.type !== 'table:edited') continue;
    for (const { item, column, to } of event.changes) if (isStatus(to)) cells.add(JSON.stringify([item, column, to]));
  }
  return { has: (item, task, to) => cells.has(JSON.stringify([item, task, to])), end };
}
