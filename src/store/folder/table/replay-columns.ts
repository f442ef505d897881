import { NightshiftError } from '../../../core/model/errors.ts';
import type { ColumnChange } from '../../../core/model/table-edit.ts';
import { changeColumns, type Table } from '../../../formats/table.ts';
import type { Reading } from './reconcile.ts';

/**
 * What a run knew of the table, with the columns that you changed by command since. Rows stay the same, so identities
 * need no guessing.
 */
export function replayColumns(
  reading: Reading,
  changes: readonly ColumnChange[],
  identify: (table: Table, known: Iterable<[number, string]>) => Reading['identities'],
): Reading {
  const table = changes.reduce((changed, change) => replay(changed, change) ?? changed, reading.table);
  if (table === reading.table) return reading;
  return { ...reading, table, identities: identify(table, reading.identities.known()) };
}

/** The journal can be edited: a change that the table does not allow did not happen. */
function replay(table: Table, change: ColumnChange): Table | undefined {
  try {
    return changeColumns(table, change);
  } catch (error) {
    if (error instanceof NightshiftError) return undefined;
    throw error;
  }
}
