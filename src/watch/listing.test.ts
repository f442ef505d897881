import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FoundFiles, findBelow, findNamed, isTooMany, MOST_FILES } from './listing.ts';

const folder = mkdtempSync(join(tmpdir(), 'nightshift-listing-'));
const FILES = [
  'a.db',
  'b.txt',
  '.hidden.db',
  'dist/x.js',
  'dist/deep/er/y.js',
  'data/one.db',
  'data/c+d.db',
  '.git/x.db',
];

beforeAll(() => {
  for (const file of [...FILES, '.nightshift/night/x.db']) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  symlinkSync('dist', join(folder, 'link'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['a.db', 'a.db'],
  ['*.db', '.hidden.db a.db'],
  ['?.*', 'a.db b.txt'],
  ['data/*.db', 'data/c+d.db data/one.db'],
  ['data/c+?.db', 'data/c+d.db'],
  ['dist', 'dist/deep/er/y.js dist/x.js'],
  ['./dist/**', 'dist/deep/er/y.js dist/x.js'],
  ['dist/**/*.js', 'dist/deep/er/y.js dist/x.js'],
  ['d*/*/*/*.js', 'dist/deep/er/y.js'],
  ['**/*.db', '.hidden.db a.db data/c+d.db data/one.db'],
  ['link', 'link'],
  ['link/**', 'link'],
  ['.git/x.db', '.git/x.db'],
  ['no/such/*', ''],
  ['a.db/**/x', ''],
])('Q2 the glob %s names what it says, and neither the repository nor the shifts', async (glob, named) => {
  const found: FoundFiles = { files: new Set(), folders: 0, leftOut: join(folder, '.nightshift') };
  await findNamed(folder, glob, found);
  expect(
    [...found.files]
      .map((file) => relative(folder, file))
      .sort()
      .join(' '),
  ).toBe(named);
});

test('Q2 a folder with more files than are watched is not walked to its end', async () => {
  const others = Array.from({ length: MOST_FILES - 1 }, (_, i) => `${i}`);
  const found: FoundFiles = { files: new Set(others), folders: 0, leftOut: join(folder, '.nightshift') };
  await findBelow(join(folder, 'a.db'), found);
  expect(isTooMany(found)).toBe(false);
  await findBelow(folder, found);
  expect([isTooMany(found), found.files.size]).toEqual([true, MOST_FILES + 1]);
});
