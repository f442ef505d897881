import { NightshiftError } from '../../core/model/errors.ts';
import type { RowChoice } from '../../core/page/action.ts';
import { rowsText } from '../../core/page/action-command.ts';
import type { SeenItem } from '../edit/find-items.ts';
import { requireRow } from './opened-shift.ts';
import type { ShiftReading } from './shift-reader.ts';

/** A system takes no longer word in a command line. */
const LONGEST_ROWS = 100_000;

/** The rows that a person chose, in row order: by identity, since they may have moved. 0-based. */
export function chosenRows(reading: ShiftReading, choice: RowChoice): number[] {
  const rows =
    'items' in choice
      ? choice.items.map((item) => requireRow(reading, { item }))
      : [...reading.grid.match({ ...choice.matching, isDescending: false, sort: { by: 'row' } })];
  if (rows.length === 0) throw new NightshiftError('nothing-to-do', 'no row matches', 'change the filter');
  return [...new Set(rows)].sort((a, b) => a - b);
}

/** As the command line names them. */
export function numbersOf(rows: readonly number[]): number[] {
  const numbers = rows.map((row) => row + 1);
  if (rowsText(numbers).length <= LONGEST_ROWS) return numbers;
  const message = `${numbers.length} rows are too many for one command: they don't follow each other`;
  throw new NightshiftError('usage', message, 'choose fewer, or retry all that failed');
}

export function seenItems({ snapshot }: ShiftReading, rows: readonly number[]): SeenItem[] {
  return rows.map((index) => ({ id: snapshot.id(index), index }));
}
