import { expect, test } from 'vitest';
import { ALL_ROWS } from '../../state/place.ts';
import { gridColumns, gridStyle, nextSort, shownColumns } from './grid-layout.ts';

const columns = { tasks: ['draft', 'print'], metadata: ['slug', 'topic'], outputs: ['words'], label: 'slug' };

test('a table with a label shows it; without one it shows its first column, unless others are chosen', () => {
  expect(shownColumns(columns, ALL_ROWS)).toEqual([]);
  const { label: _, ...unnamed } = columns;
  expect(shownColumns(unnamed, ALL_ROWS)).toEqual(['slug']);
  expect(shownColumns(unnamed, { ...ALL_ROWS, columns: ['words'] })).toEqual(['words']);
});

test('all rows of the grid have the same columns: a box, the row, the label, tasks, chosen columns and numbers', () => {
  const shown = gridColumns(columns, ['words']);
  expect(shown.map(({ title }) => title)).toEqual([
    ...['Row', 'slug', 'draft', 'print', 'words'],
    ...['Attempts', 'Time', 'Cost'],
  ]);
  expect(gridStyle(shown)['--columns'].match(/minmax\([^)]*\)|\S+/g)).toHaveLength(shown.length + 1);
});

test('a column is sorted up and then down, a number down first', () => {
  const [row, label] = gridColumns(columns, []);
  const cost = gridColumns(columns, []).at(-1)!;
  expect(nextSort(ALL_ROWS, row!)).toMatchObject({ sort: { by: 'row' }, isDescending: true });
  const up = nextSort(ALL_ROWS, label!);
  expect(up).toMatchObject({ sort: { by: 'column', column: 'slug' }, isDescending: false });
  expect(nextSort(up, label!).isDescending).toBe(true);
  expect(nextSort(ALL_ROWS, cost)).toMatchObject({ sort: { by: 'cost' }, isDescending: true });
});
