import { expect, test } from 'vitest';
import { isWholeShift, parseRows, readSelection, selectionFlags, selectionIn } from './selection.ts';

const LAST = Number.MAX_SAFE_INTEGER;

test.each([
  ['3', [[2, 2]]],
  ['3:10', [[2, 9]]],
  ['3-10', [[2, 9]]],
  ['3:', [[2, LAST]]],
  [':10', [[0, 9]]],
  [
    ' 7 , 3 , 12:20 ',
    [
      [6, 6],
      [2, 2],
      [11, 19],
    ],
  ],
])('F6 --rows %s', (text, ranges) => {
  expect(parseRows(text).map(({ from, to }) => [from, to])).toEqual(ranges);
});

test.each(['', ':', '-', '-3', '0', '5:3', 'x', '3:x', '1,', ',1', '1,,2', '3:4:5', '-1:2', '1.5'])(
  'F6 --rows %j is refused, with what would do',
  (text) => {
    expect(() => parseRows(text)).toThrow(`${JSON.stringify(text)} is not a range of rows`);
  },
);

test('M7 a selection is plain JSON that a journal gives back, and that flags spell', () => {
  const selection = {
    task: 'write',
    rows: '3,7',
    where: [{ column: 'city', value: 'a=b' }],
    sample: { size: 2, seed: 'x y' },
    items: { 'id.0': 'write' },
  };
  expect(readSelection(JSON.parse(JSON.stringify(selection)))).toEqual(selection);
  expect(selectionFlags(selection)).toEqual([
    '--task=write',
    '--rows=3,7',
    '--where=city=a=b',
    '--sample=2',
    '--seed=x y',
  ]);
  const options = { agent: 'shell', task: undefined, rows: '3' };
  expect(selectionIn(options)).toEqual({ rows: '3' });
  expect([isWholeShift({ task: undefined }), isWholeShift({ items: {} })]).toEqual([true, false]);
});

test.each([null, 3, [], { rows: 3 }, { where: {} }, { where: [{ column: 'a' }] }, { sample: {} }, { items: { a: 1 } }])(
  'M7 what a journal holds instead of a selection is passed over: %j',
  (value) => {
    expect(readSelection(value)).toBeUndefined();
  },
);
