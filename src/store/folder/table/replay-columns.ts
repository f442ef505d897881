import { NightshiftError } from '../../../core/model/errors.ts';
import type { ColumnChange } from '../../../core/model/events.ts';
import { changeColumns, type Table } from '../../../formats/table.ts';
import type { Reading } from './reconcile.ts';

/**
 * What a run knew of the table, with the columns that a person has changed through a command since: row by row it is the
 * same, so that nobody has to guess who is who.
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

/** The journal is a file like any other: what can't be done to the table was never done to it. */
function replay(table: Table, change: ColumnChange): Table | undefined {
  try {
    return changeColumns(table, change);
  } catch (error) {
    if (error instanceof NightshiftError) return undefined;
    throw error;
  }
}
