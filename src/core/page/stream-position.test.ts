import { describe, expect, test } from 'vitest';
import { isLater, type JournalPosition, readStreamPosition, writeStreamPosition } from './stream-position.ts';

const POSITION: JournalPosition = {
  file: '2049:131077',
  offset: 209_715_200,
  tail: '00ab12cd',
  at: Date.parse('2026-11-18T03:04:05.678Z'),
  run: '20261118T030405-ae596a',
  seq: 1234,
};

describe('the id of a message', () => {
  test('X8 tells the position in every journal, and survives a header and an address', () => {
    const position = new Map([
      ['pages', POSITION],
      ['archive/2026-11-17-pages', { file: '', offset: 0, tail: '', at: 0, run: '', seq: 0 }],
    ]);
    const id = writeStreamPosition(position);
    expect(id).toMatch(/^[\w!~:,/-]+$/);
    expect(readStreamPosition(id)).toEqual(position);
  });

  test.each([
    '',
    'pages',
    'pages!',
    'pages!1:2~z~~~~',
    '../x!1:2~0~~0~~0',
    'pages!1:2~zzzzzzzzzzzzzz~~0~~0',
    '\u0000!!!',
  ])('X8 what can not be read is left out: %j', (text) => {
    expect(readStreamPosition(text).size).toBe(0);
    const good = writeStreamPosition(new Map([['pages', POSITION]]));
    expect([...readStreamPosition(`${text},${good}`).keys()]).toEqual(['pages']);
  });
});

test('X8 in a journal that was replaced, an event is new by its number in the run, or else by its time', () => {
  const { at, run } = POSITION;
  expect(isLater({ at, run, seq: 1235 }, POSITION)).toBe(true);
  expect(isLater({ at: at + 1, run, seq: 1234 }, POSITION)).toBe(false);
  expect(isLater({ at: at + 1, run: '', seq: 0 }, POSITION)).toBe(true);
  expect(isLater({ at: at - 1, run: 'earlier', seq: 9999 }, POSITION)).toBe(false);
  expect(isLater({ at: at + 1, run: '', seq: 0 }, { at, run: '', seq: 0 })).toBe(true);
});
