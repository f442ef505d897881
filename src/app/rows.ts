import { NightshiftError } from '../core/model/errors.ts';

/** 0-based, both ends included. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** `3`, `3:10`, `3:`, `:10`; 1-based and inclusive, as people count rows. */
export function parseRows(text: string): RowRange {
  const match = /^(\d*)(:?)(\d*)$/.exec(text.trim());
  const [, from = '', colon = '', to = ''] = match ?? [];
  const range = {
    from: from === '' ? 0 : Number(from) - 1,
    to: colon === '' ? Number(from) - 1 : to === '' ? Number.MAX_SAFE_INTEGER : Number(to) - 1,
  };
  if (!match || text.trim() === '' || text.trim() === ':' || range.from < 0 || range.to < range.from) {
    throw new NightshiftError(
      'usage',
      `${JSON.stringify(text)} is not a range of rows`,
      'write it like 3, 3:10, 3: or :10 (the first row is 1)',
    );
  }
  return range;
}

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
