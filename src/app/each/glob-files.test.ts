import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { globFiles } from './glob-files.ts';

function folderWith(files: readonly string[]): string {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-glob-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of files) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
  return root;
}

test('F3 a pattern names files as a shell would, and never what is hidden or installed', async () => {
  const root = folderWith([
    ...['a.ts', 'b.tsx', 'z.md', 'sub/a.ts', 'sub/deep/c.ts', 'sub/[id].ts', "a b/it's.ts"],
    ...['.hidden.ts', '.git/x.ts', 'node_modules/y.ts', 'sub/node_modules/y.ts'],
  ]);
  symlinkSync(root, join(root, 'sub/loop'));
  symlinkSync(join(root, 'a.ts'), join(root, 'link.ts'));
  const found = (pattern: string) => globFiles(root, pattern);
  expect(await found('*.ts')).toEqual(['a.ts', 'link.ts']);
  expect(await found('./*.{ts,tsx}')).toEqual(['a.ts', 'b.tsx', 'link.ts']);
  const all = ["a b/it's.ts", 'a.ts', 'link.ts', 'sub/[id].ts', 'sub/a.ts', 'sub/deep/c.ts'];
  expect(await found('**/*.ts')).toEqual(all);
  expect(await found('**')).toEqual([...all, 'b.tsx', 'z.md'].sort());
  expect(await found('sub/*')).toEqual(['sub/[id].ts', 'sub/a.ts']);
  expect(await found('sub/[id].ts')).toEqual(['sub/[id].ts']);
  expect(await found('node_modules/*')).toEqual(['node_modules/y.ts']);
  expect(await found('.*.ts')).toEqual(['.hidden.ts']);
  expect(await found("{sub,a b}/{a,it's}.ts")).toEqual(["a b/it's.ts", 'sub/a.ts']);
  expect(await found(join(root, 's?b/a.ts'))).toEqual([join(root, 'sub/a.ts')]);
  expect(await globFiles(join(root, 'sub'), '../*.md')).toEqual(['../z.md']);
  expect(await found('gone/*')).toEqual([]);
});

test('F3 several ** visit each folder once, and name each file once', async () => {
  // With one walk for each way to divide 30 folders among the wildcards, this would not end.
  const deep = `${'d/'.repeat(30)}x.ts`;
  const root = folderWith([deep, 'd/x.ts', 'a/b/c', 'a/m/b/n/b/c', 'a/b/b/b/c']);
  const found = (pattern: string) => globFiles(root, pattern);
  expect(await found('**/**/**/**/**/**/**/**/**/**/x.ts')).toEqual(['d/x.ts', deep].sort());
  expect(await found('**/d/**/d/**/d/**/d/**/d/**/d/**/d/**/d/**/d/**/d/**/x.ts')).toEqual([deep]);
  expect(await found('a/**/b/**/c')).toEqual(['a/b/b/b/c', 'a/b/c', 'a/m/b/n/b/c']);
  expect(await found('a/**/**')).toEqual(['a/b/b/b/c', 'a/b/c', 'a/m/b/n/b/c']);
});
