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
  const searched = new SearchText(table, [true, true, false]);
  searched.extend(2);
  const marks = searched.find(text);
  return [...marks.keys()].filter((row) => marks[row] === 1);
}

test.each([
  ['ÄRGER', [0]],
  ['plain', [0]],
  ['"quoted", CELL\nwith', [1]],
  ['istanbul', []],
  ['İstanbul', [2]],
  ['σίσυφο', [2]],
  ['日本', [3]],
  ['i', [0, 1, 2, 4]],
  ['', [0, 1, 2, 3, 4]],
  // Neither a status, nor text that begins in one cell and ends in the next.
  ['done', []],
  ['plain\u0000', []],
  ['x', [3]],
])('X8 a search for %j finds rows %j', (text, rows) => {
  expect(found(text)).toEqual(rows);
});
