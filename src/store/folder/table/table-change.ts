import { existsSync } from 'node:fs';
import type { IdentityBasis } from '../../../core/model/identity-basis.ts';
import type { CellEdit, ColumnChange } from '../../../core/model/table-edit.ts';
import { parseTable, type Table } from '../../../formats/table.ts';
import type { Failpoint } from '../files/atomic-write.ts';
import { LOCK_WAIT_MS, lockIfThere, lockWithin } from '../files/flock.ts';
import { Journal } from '../journal/journal.ts';
import type { ShiftPaths } from '../layout.ts';
import { writeBasis } from './identity-file.ts';
import { TableFile } from './table-file.ts';

/** What a command may do to the table while it holds the lock. */
export interface TableChange<T> {
  readonly table: Table;
  readonly answer: T;
  /** Statuses that you changed on purpose: an active run accepts them. */
  readonly edits?: readonly CellEdit[];
  /** The flags of the `retry` that makes the change. */
  readonly retry?: readonly string[];
  /** Columns of metadata that it changes: an active run accepts them, too. */
  readonly columns?: readonly ColumnChange[];
  /** What ids are derived from afterwards, if that is something else. */
  readonly basis?: IdentityBasis | undefined;
}

/** Reads the table under the lock and, if `change` gives another one, puts that in place. */
export async function changeTable<T>(
  paths: ShiftPaths,
  change: (table: Table) => TableChange<T>,
  now: () => number,
  failpoint?: Failpoint,
): Promise<T> {
  // Tried first if there is no lock file yet: a refused change creates none.
  if (!existsSync(paths.lock)) change(await readTable(paths));
  using _lock = await lockWithin(paths.lock, LOCK_WAIT_MS);
  const file = new TableFile(paths.table, failpoint ?? (() => {}));
  for (;;) {
    const table = (await file.readIfChanged((read) => read))!;
    const { table: changed, answer, edits = [], retry, columns, basis } = change(table);
    // Before the table: a run must never meet a status or a column that it was not told about.
    if (basis) await writeBasis(paths, basis);
    const more = { ...(retry ? { retry } : {}), ...(columns ? { columns } : {}) };
    if (edits.length > 0 || columns) await tellRun(paths, { changes: edits, ...more }, now);
    if (changed === table || (await file.write(changed))) return answer;
  }
}

async function tellRun(
  paths: ShiftPaths,
  edited: { changes: readonly CellEdit[] } & Pick<TableChange<unknown>, 'retry' | 'columns'>,
  now: () => number,
): Promise<void> {
  await using journal = await Journal.open(paths);
  const at = new Date(now()).toISOString();
  const by = `process ${process.pid}`;
  journal.append({ type: 'table:edited', at, run: '', seq: 0, shift: paths.name, ...edited, by });
  await journal.flush();
}

export async function readTable(paths: ShiftPaths): Promise<Table> {
  // Parsed when the lock is free again: a run may be waiting for it.
  return parseTable(await readBytes(paths), paths.table);
}

async function readBytes(paths: ShiftPaths): Promise<Buffer> {
  using _lock = await lockIfThere(paths.lock, LOCK_WAIT_MS);
  return await new TableFile(paths.table, () => {}).readBytes();
}
