import { expect, test } from 'vitest';
import { branchOf, slugOf, uniqueSlug } from './branch-name.ts';

test.each([
  ['src/a.ts', 'src-a-ts'],
  ['  Über Straße.md ', 'uber-stra-e-md'],
  ['..', 'row-7'],
  ['目录', 'row-7'],
  ['a.lock', 'a-lock'],
  [`${'x'.repeat(47)}/y`, 'x'.repeat(47)],
])('W2 the name of a row %j is %j', (label, slug) => {
  expect(slugOf(label, 7)).toBe(slug);
  expect(branchOf('tests', slugOf(label, 7))).toBe(`nightshift/tests/${slug}`);
});

test('W2 rows with the same name are told apart by their identity, whatever their order', () => {
  const taken = new Set(['main', 'main-3f9a2c']);
  const isTaken = (slug: string) => taken.has(slug);
  expect(uniqueSlug('other', '3f9a2c77e0.0', isTaken)).toBe('other');
  expect(uniqueSlug('main', '77e03f9a2c.0', isTaken)).toBe('main-77e03f');
  expect(uniqueSlug('main', '3f9a2c77e0.0', isTaken)).toBe('main-3f9a2c77');
});
