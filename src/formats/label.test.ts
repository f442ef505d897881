import { expect, test } from 'vitest';
import { compileLabel } from './label.ts';

const COLUMNS = new Set(['slug', 'file name']);
const compile = (value: string) => compileLabel({ key: 'label', value, line: 7 }, COLUMNS, 'manager.md');

test('X8 `label:` is a column, or text with placeholders', () => {
  expect(compile('slug')).toEqual({ segments: [{ kind: 'column', name: 'slug' }] });
  expect(compile('file name')).toEqual({ segments: [{ kind: 'column', name: 'file name' }] });
  expect(compile('page {slug}!')).toEqual({ segments: ['page ', { kind: 'column', name: 'slug' }, '!'] });
  expect(compile('')).toBeUndefined();
  expect(compileLabel(undefined, COLUMNS, 'manager.md')).toBeUndefined();
});

test.each([
  ['slog', '`label: slog`: the table has no such column', 'did you mean slug?'],
  ['zzzzzz', '`label: zzzzzz`: the table has no such column', 'columns: slug, file name'],
  ['page {slog}', '{slog}: the table has no such column', 'did you mean {slug}?'],
  ['{ENV:KEY}', '`label: {ENV:KEY}`: a label may not contain values of .env', 'name columns of the table'],
])('X8 a label that names nothing is an error with its place: %s', (value, message, hint) => {
  const place = { file: 'manager.md', line: 7 };
  const error = { message: expect.stringContaining(message), hint: expect.stringContaining(hint), ...place };
  expect(() => compile(value)).toThrow(expect.objectContaining(error));
});
