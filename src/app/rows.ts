import { NightshiftError } from '../core/model/errors.ts';

/** A 1-based row of a table with `count` rows, as its index. */
export function parseRow(text: string, count: number): number {
  const row = /^\d+$/.test(text) ? Number(text) : 0;
  if (row >= 1 && row <= count) return row - 1;
  throw new NightshiftError(
    'usage',
    `there is no row ${JSON.stringify(text)}`,
    count === 0 ? 'the table is empty' : `rows are 1 to ${count}`,
  );
}

/** A 0-based index, as qsv counts. */
export function parseIndex(text: string, count: number): number {
  const index = /^\d+$/.test(text) ? Number(text) : -1;
  if (index >= 0 && index < count) return index;
  throw new NightshiftError(
    'usage',
    `there is no index ${JSON.stringify(text)}`,
    count === 0 ? 'the table is empty' : `indices are 0 to ${count - 1}`,
  );
}
