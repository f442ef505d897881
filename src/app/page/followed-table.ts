import { lstatSync } from 'node:fs';
import { outputsByTask, type ShiftDocuments } from '../../formats/compile.ts';
import type { Table } from '../../formats/table.ts';
import { fingerprint } from '../../store/folder/files/atomic-write.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { snapshotOf, statusColumns } from '../../store/folder/table/draft.ts';
import type { Identities } from '../../store/folder/table/identities.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import type { Snapshot } from '../../store/store.ts';
import { SearchText } from './search-text.ts';

export interface ReadTable {
  readonly table: Table;
  readonly snapshot: Snapshot;
  /** Of all columns without a status. */
  readonly text: SearchText;
}

interface Known extends ReadTable {
  readonly print: string;
  /** What the identities are derived from, besides the table. */
  readonly basis: string;
  readonly identities: Identities;
}

/**
 * The table of a shift that is read again and again, and never written. Identities that are known stay known as long as
 * the metadata of all rows does: to derive them is most of the work.
 */
export class FollowedTable {
  #known: Known | undefined;

  /** The same object as last time if nothing changed. */
  async read(paths: ShiftPaths, documents: ShiftDocuments): Promise<ReadTable> {
    const tasks = documents.tasks.map(({ name }) => name);
    const statusAndOutputs = new Set([...tasks, ...[...outputsByTask(documents).values()].flat()]);
    const basis = JSON.stringify([printOf(paths.identity), tasks, [...statusAndOutputs]]);
    const print = printOf(paths.table);
    const known = this.#known?.basis === basis ? this.#known : undefined;
    if (known?.print === print) return known;
    const table = await readTable(paths);
    const columns = statusColumns(table, tasks, paths.table);
    const isSame = known?.identities.hasSameItems(table) === true;
    const identities = isSame ? known.identities : identitiesOf(paths, table, statusAndOutputs);
    if (isSame) identities.rebase(table);
    const snapshot = snapshotOf({ table, columns, identities }, tasks);
    const text = new SearchText(
      table,
      table.header.map((name) => !tasks.includes(name)),
    );
    this.#known = { table, snapshot, text, identities, print, basis };
    return this.#known;
  }
}

/** Changes with the file, and says whether there is one. */
export function printOf(file: string): string {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false, bigint: true });
    return found === undefined ? 'none' : fingerprint(found);
  } catch {
    return 'unreadable';
  }
}
