import { expect, test } from 'vitest';
import { createTable } from '../../formats/table.ts';
import { SearchText } from './search-text.ts';

const table = createTable(
  ['name', 'note', 'work'],
  [
    ['Ärger', 'plain', 'done'],
    ['b', 'a "quoted", cell\nwith two lines', 'todo'],
    ['', 'İstanbul ΣΊΣΥΦΟΣ', 'done'],
    ['日本', 'x'.repeat(200_000), 'failed'],
    ['pl', 'ain', 'todo'],
  ],
);

function found(text: string): number[] {
  const searched = new SearchText(table, [true, true, false], (row) => (row === 4 ? ['Permission DENIED: 日本'] : []));
  searched.extend(2);
  const marks = new Uint8Array(table.rowCount).fill(1);
  searched.filter(text, marks);
  return [...marks.keys()].filter((row) => marks[row] === 1);
}

test.each([
  ['ÄRGER', [0]],
  ['plain', [0]],
  ['"quoted", CELL\nwith', [1]],
  ['istanbul', []],
  ['İstanbul', [2]],
  ['σίσυφο', [2]],
  ['日本', [3, 4]],
  ['denied', [4]],
  // Neither a status, nor text that begins in one cell and ends in the next.
  ['done', []],
  ['plain\u0000', []],
  ['x', [3]],
])('X8 a search for %j finds rows %j', (text, rows) => {
  expect(found(text)).toEqual(rows);
});

test('X8 a search leaves out what was filtered out before', () => {
  const searched = new SearchText(table, [true, true, false], () => []);
  const marks = Uint8Array.from([0, 1, 1, 0, 1]);
  searched.filter('a', marks);
  expect([...marks]).toEqual([0, 1, 1, 0, 1]);
  searched.filter('ain', marks);
  expect([...marks]).toEqual([0, 0, 0, 0, 1]);
});
