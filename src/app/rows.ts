import { NightshiftError } from '../core/model/errors.ts';
import { RowLabels, rowsLabelled } from '../core/model/row-labels.ts';
import type { OpenShift } from './open-shift.ts';

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

const MOST_CANDIDATES = 3;

/** The index of a row that is given by its 1-based number, or by a label that no other row has. */
export function findRowIndex({ shift, snapshot }: Pick<OpenShift, 'shift' | 'snapshot'>, text: string): number {
  const { count } = snapshot;
  const isNumber = /^\d+$/.test(text);
  if (count === 0 || (isNumber && Number(text) >= 1 && Number(text) <= count)) return parseRow(text, count);
  const { exact, similar } = rowsLabelled(text, count, RowLabels.in(shift, snapshot), MOST_CANDIDATES);
  // A number is never a label: the row that it means would depend on the length of the table.
  if (exact.length === 1 && !isNumber) return exact[0]!.row;
  const candidates = (exact.length > 0 ? exact : similar).map(({ row, label }) => `${row + 1} (${label})`);
  const meant = candidates.length === 0 ? '' : `; did you mean ${candidates.join(', ')}?`;
  const message = exact.length > 1 ? 'several rows are called' : 'there is no row';
  throw new NightshiftError('usage', `${message} ${JSON.stringify(text)}`, `rows are 1 to ${count}${meant}`);
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
