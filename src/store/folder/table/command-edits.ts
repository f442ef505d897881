import { isStatus } from '../../../core/model/status.ts';
import type { ColumnChange } from '../../../core/model/table-edit.ts';
import { journalEnd, type Position, readSince } from '../journal/journal-reader.ts';

/** What you changed with commands. `table edit`, `reset` and `rename-column` leave a line in the journal. */
export interface CommandEdits {
  has(item: string, task: string, to: string): boolean;
  /** In the order in which they were made. */
  readonly columns: readonly ColumnChange[];
  /** Where the journal ended when it was read. */
  readonly end: Position | undefined;
}

export async function readCommandEdits(journal: string, from: Position | undefined): Promise<CommandEdits> {
  const cells = new Set<string>();
  const columns: ColumnChange[] = [];
  const end = journalEnd(journal);
  for await (const event of readSince(journal, from, ['"table:edited"'])) {
    if (event.type !== 'table:edited') continue;
    columns.push(...(event.columns ?? []));
    for (const { item, column, to } of event.changes) if (isStatus(to)) cells.add(JSON.stringify([item, column, to]));
  }
  return { has: (item, task, to) => cells.has(JSON.stringify([item, task, to])), columns, end };
}
