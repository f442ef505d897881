import { editCells } from '../../formats/table.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import { changeTable } from '../../store/folder/table/table-change.ts';
import type { OpenTable } from '../edit/edit-items.ts';

/** Writes values of a delivery into those of their columns that the table has, under its lock. */
export async function writeDeliveryCells(
  { paths, world, statusAndOutputs }: OpenTable,
  id: string,
  values: Readonly<Record<string, string>>,
): Promise<void> {
  await changeTable(
    paths,
    (table) => {
      const identities = identitiesOf(paths, table, statusAndOutputs);
      let row = 0;
      while (row < table.rowCount && identities.id(row) !== id) row++;
      if (row === table.rowCount) return { table, answer: undefined };
      const changes = Object.entries(values).flatMap(([name, value]) => {
        const column = statusAndOutputs.has(name) ? table.header.indexOf(name) : -1;
        return column < 0 || table.cell(row, column) === value ? [] : [{ row, column, value }];
      });
      return { table: changes.length === 0 ? table : editCells(table, changes), answer: undefined };
    },
    world.now,
  );
}
