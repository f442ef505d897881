import { expect, test } from 'vitest';
import { splitFiles } from './split-files.ts';

test('a diff is split into its files, with what was added and removed in each', () => {
  const text = [
    'diff --git a/src/a.ts b/src/a.ts',
    'index 1..2 100644',
    '--- a/src/a.ts',
    '+++ b/src/a.ts',
    '@@ -1,2 +1,3 @@',
    ' same',
    '-old',
    '+new',
    '+more',
    'diff --git a/logo.png b/logo.png',
    'Binary files a/logo.png and b/logo.png differ',
    '',
  ].join('\n');
  expect(splitFiles(text)).toEqual([
    { name: 'src/a.ts', lines: ['@@ -1,2 +1,3 @@', ' same', '-old', '+new', '+more'], added: 2, removed: 1 },
    { name: 'logo.png', lines: ['Binary files a/logo.png and b/logo.png differ'], added: 0, removed: 0 },
  ]);
});

test('a change that names no file is shown as it is', () => {
  expect(splitFiles('+one\n')).toEqual([{ name: 'change', lines: ['+one'], added: 1, removed: 0 }]);
  expect(splitFiles('')).toEqual([]);
});
