import { NightshiftError } from '../../core/model/errors.ts';
import type { Table } from '../../formats/table.ts';

/**
 * The rows of `items` that `table` does not have, by column. Two rows are the same if their values in the shared
 * columns are; of equal rows, as many are new as the table lacks. `ignored`: columns that hold statuses and outputs.
 */
export function newRows(items: Table, table: Table, ignored: ReadonlySet<string>): ReadonlyMap<string, string>[] {
  const columns = items.header.filter((name) => !ignored.has(name));
  const unknown = columns.filter((name) => table.columnOf(name) < 0);
  if (unknown.length > 0) {
    const message = `the items have a column that the table does not have: ${unknown.join(', ')}`;
    throw new NightshiftError('usage', message, `--name makes a new shift; \`nightshift table\` adds columns`);
  }
  const keys = (source: Table) => {
    const positions = columns.map((name) => source.columnOf(name));
    return (row: number) => JSON.stringify(cellsAt(source, row, positions));
  };
  const keyOf = keys(table);
  const present = new Map<string, number>();
  for (let row = 0; row < table.rowCount; row++) {
    const key = keyOf(row);
    present.set(key, (present.get(key) ?? 0) + 1);
  }
  const keyOfItem = keys(items);
  const added: ReadonlyMap<string, string>[] = [];
  for (let row = 0; row < items.rowCount; row++) {
    const key = keyOfItem(row);
    const left = present.get(key) ?? 0;
    if (left > 0) present.set(key, left - 1);
    else {
      const cells = JSON.parse(key) as string[];
      added.push(new Map(columns.map((name, i) => [name, cells[i]!])));
    }
  }
  return added;
}

function cellsAt(table: Table, row: number, positions: readonly number[]): string[] {
  const cells = table.cells(row);
  return positions.map((position) => cells[position]!);
}
