import { expect, test } from 'vitest';
import { storable } from './storable.ts';

test.each([
  ['half \ud83d of an emoji', 'half \ufffd of an emoji'],
  ['\udc00', '\ufffd'],
  ['a whole one \u{1f600}', 'a whole one \u{1f600}'],
  ['a\0b', 'a\ufffdb'],
  // The text of a program, not a character.
  ['/[\\u0000-\\u001f]|\\ud83d/', '/[\\u0000-\\u001f]|\\ud83d/'],
])('%j is stored as %j', (text, stored) => {
  expect(storable({ list: [text], [text]: 1 })).toEqual({ list: [stored], [stored]: 1 });
});

test('everything that is no text stays', () => {
  const json = { number: 1.5, yes: true, none: null, list: [], object: {} };
  expect(storable(json)).toEqual(json);
});
