import { expect, test } from 'vitest';
import { splitAtHits, visibleOutput, visibleText } from './visible-text.ts';

test('S9 on the page, characters that control or reorder text are written as escapes; lines and tabs stay', () => {
  expect(visibleText('photo\u202egnp.exe')).toBe('photo\\u202egnp.exe');
  expect(visibleText('a\u0000b\u0007c\u001b[31m\u2066')).toBe('a\\u0000b\\u0007c\\u001b[31m\\u2066');
  expect(visibleText('one\r\ntwo\tthree\n')).toBe('one\ntwo\tthree\n');
  expect(visibleText('<b>&amp;</b> käse 🦉')).toBe('<b>&amp;</b> käse 🦉');
});

test('S9 on the page, the output of a program has no colours, and what could hide in them stays visible', () => {
  expect(visibleOutput('\u001b[1;31mfailed\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007')).toBe('failed link');
  expect(visibleOutput('\u001bP\u202e')).toBe('\\u001bP\\u202e');
});

test('hits of a search are found in capitals or not, and nothing of the text is lost', () => {
  expect(splitAtHits('Owl and owlet', 'OWL')).toEqual(['', 'Owl', ' and ', 'owl', 'et']);
  expect(splitAtHits('nothing', 'owl')).toEqual(['nothing']);
  expect(splitAtHits('all', '')).toEqual(['all']);
  expect(splitAtHits('İİ owl', 'owl').join('')).toBe('İİ owl');
});
