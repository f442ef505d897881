import { NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import type { Table } from '../../formats/table.ts';
import { identitiesOf } from '../../store/folder/table/identity-file.ts';
import type { OpenTable } from './edit-items.ts';

/** An item as somebody saw it: its identity, and the index of its row at that time. */
export interface SeenItem {
  readonly id: string;
  readonly index: number;
}

/** The indices of the rows of these items, in row order. Throws if one is gone: nothing is done for a part of them. */
export function findItems(
  { paths, statusAndOutputs }: Pick<OpenTable, 'paths' | 'statusAndOutputs'>,
  table: Table,
  items: readonly SeenItem[],
): number[] {
  const identities = identitiesOf(paths, table, statusAndOutputs);
  const isThere = ({ id, index }: SeenItem) => index < table.rowCount && identities.id(index) === id;
  const moved = new Set(items.filter((item) => !isThere(item)).map(({ id }) => id));
  const rows = items.filter(({ id }) => !moved.has(id)).map(({ index }) => index);
  // Only if rows have moved: it takes the identities of all of them.
  for (let row = 0; row < table.rowCount && moved.size > 0; row++) if (moved.delete(identities.id(row))) rows.push(row);
  if (moved.size === 0) return [...new Set(rows)].sort((a, b) => a - b);
  const which = items.length === 1 ? 'the row' : `${moved.size} of ${count(items.length, 'row')}`;
  throw new NightshiftError('not-found', `${which} was removed, or its metadata edited`, 'look again, and then decide');
}
