import { expect, test } from 'vitest';
import { globMatcher } from './glob.ts';

test.each([
  ['a.db', 'a.db', true],
  ['a.db', 'x/a.db', false],
  ['./a.db', 'a.db', true],
  ['*.db', '.hidden.db', true],
  ['*.db', 'x/a.db', false],
  ['a?b', 'a.b', true],
  ['a?b', 'a/b', false],
  ['a.b', 'aXb', false],
  ['c+(d).txt', 'c+(d).txt', true],
  ['dist', 'dist/deep/x', true],
  ['dist/**', 'dist/deep/x', true],
  ['dist/**', 'distant/x', false],
  ['**/*.test.js', 'x.test.js', true],
  ['**/*.test.js', 'a/b/x.test.js', true],
  ['a/**/z', 'a/z', true],
  ['a/**/z', 'a/b/c/z/y', true],
  ['**', 'any/thing', true],
])('D5 the glob %s names %s: %s', (glob, path, isNamed) => {
  expect(globMatcher('/srv/in', [glob])(`/srv/in/${path}`)).toBe(isNamed);
});

test('D5 a glob may lead out of its folder, and a folder may have any name', () => {
  expect(globMatcher('/srv/in', ['../tools/*.sh'])('/srv/tools/x.sh')).toBe(true);
  expect(globMatcher('/srv/[in].*', ['x'])('/srv/[in].*/x')).toBe(true);
  expect(globMatcher('/srv/[in].*', ['x'])('/srv/i.a/x')).toBe(false);
});
