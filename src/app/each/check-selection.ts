import type { Selection } from '../../core/schedule/selection.ts';
import { EACH_TASK } from '../../formats/each-task.ts';
import { addRows, readStatuses, type Table } from '../../formats/table.ts';
import { refuseNoMatch } from '../select-rows.ts';

/** Throws as the run would if the selection chooses nothing of the table with its new rows. */
export function checkSelection(
  selection: Selection,
  table: Table,
  file: string,
  added: readonly ReadonlyMap<string, string>[] = [],
): void {
  const all = addRows(
    table,
    added.map((cells) => table.header.map((name) => cells.get(name) ?? '')),
  );
  const { header, rowCount: count } = all;
  const columns = [readStatuses(all, all.columnOf(EACH_TASK), file)];
  const cell = (row: number, column: string) => all.cell(row, all.columnOf(column));
  refuseNoMatch({ count, tasks: [EACH_TASK], columns, header, cell }, selection);
}
