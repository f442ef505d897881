import { expect, test } from 'vitest';
import type { Result } from '../core/folds/results.ts';
import { exportMarkdown, sheetOf } from './export.ts';

/** A cell of a Markdown table that has this text. */
function cellOf(text: string): string {
  const result = { row: 1, task: 'work', status: 'done', attempts: 1, captured: {}, usage: {}, metadata: { text } };
  const line = [...exportMarkdown(sheetOf([result as unknown as Result], ['text']), 'night')].at(-1)!;
  return line.split(/(?<!\\)(?:\\\\)*\|/)[2]!.trim();
}

test.each([
  '2026-11-16T06:04:09.123Z',
  '{"size":"7","of":"a-b (c)"}',
  'exit code 1: no file out/a.html!',
  '#3 + 4 - 5',
  '---',
  'src/a.ts:12:3 error',
])('S10 in an export for people %s stays as it is', (text) => {
  expect(cellOf(text)).toBe(text);
});

test.each([
  ['a|b', 'a\\|b'],
  ['a\\|b', 'a\\\\\\|b'],
  ['\\', '\\\\'],
  ['`rm`', '\\`rm\\`'],
  ['*a* _b_ ~c~ $d$', '\\*a\\* \\_b\\_ \\~c\\~ \\$d\\$'],
  ['![x](http://e.test)', '!\\[x\\](http\\://e.test)'],
  ['[x]: HTTPS://e.test', '\\[x\\]: HTTPS\\://e.test'],
  ['www.e.test WWW.e.test', 'www\\.e.test WWW\\.e.test'],
  ['a@e.test', 'a\\@e.test'],
  [':tada: :+1: :100:', '\\:tada: \\:+1: \\:100:'],
  ['<b>&lt;</b>', '&lt;b&gt;&amp;lt;&lt;/b&gt;'],
  ['one \r\n two\n\nthree', 'one<br>two<br>three'],
])('S10 in an export for people %j can not be markup', (text, cell) => {
  expect(cellOf(text)).toBe(cell);
});
