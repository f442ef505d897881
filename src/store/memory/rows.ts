import { STATUSES, type Status } from '../../core/model/status.ts';
import type { Snapshot } from '../store.ts';

export const ID = Symbol('id');

/** An item's cells by column name. A copy made by spreading is still the same item. */
export type Row = Record<string, string> & { [ID]?: string };

/** An empty cell is `todo`. */
export function statusIn(row: Row, task: string): Status {
  return (row[task] || 'todo') as Status;
}

export function snapshotOf(rows: readonly Row[], tasks: readonly string[]): Snapshot {
  return {
    count: rows.length,
    tasks,
    columns: tasks.map((task) => Uint8Array.from(rows, (row) => STATUSES.indexOf(statusIn(row, task)))),
    header: Object.keys(rows[0] ?? {}),
    id: (row) => rows[row]![ID]!,
    rowOf: (id) => {
      const row = rows.findIndex((each) => each[ID] === id);
      return row < 0 ? undefined : row;
    },
    cell: (row, column) => rows[row]![column] ?? '',
    metadata: (row) => Object.fromEntries(Object.entries(rows[row]!).filter(([name]) => !tasks.includes(name))),
  };
}
