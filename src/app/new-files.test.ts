import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { addFiles } from './new-files.ts';

const FILES = new Map([
  ['data/a.txt', Buffer.from('all of a')],
  ['data/b.txt', Buffer.from('all of b')],
]);

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-files-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

test('R1 a kill while samples are added leaves no half of one, and the next call adds the rest', async () => {
  const root = folder();
  const names = () => readdirSync(join(root, 'data')).sort();
  const seen: string[][] = [];
  await addFiles(root, FILES, (point) => void (point === 'document:written' && seen.push(names())));
  const unfinished = expect.stringMatching(/^\.[ab]\.txt\..*\.nightshift-tmp$/);
  expect(seen).toEqual([[unfinished], [unfinished, 'a.txt']]);
  // As a process that was killed there leaves it.
  rmSync(join(root, 'data/b.txt'));
  writeFileSync(join(root, 'data/.b.txt.999999999-0.nightshift-tmp'), 'all o');
  const added = await addFiles(root, FILES);
  expect(names()).toEqual(['a.txt', 'b.txt']);
  expect(readFileSync(join(root, 'data/b.txt'), 'utf8')).toBe('all of b');
  await added.undo();
  expect(names()).toEqual(['a.txt']);
});

test('F5 samples never replace a file, not even one that appears meanwhile; then none is added', async () => {
  const root = folder();
  mkdirSync(join(root, 'data'));
  const appear = () => writeFileSync(join(root, 'data/b.txt'), 'mine');
  const adding = addFiles(root, FILES, (point) => void (point === 'document:synced' && appear()));
  await expect(adding).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('data/b.txt') });
  expect(readFileSync(join(root, 'data/b.txt'), 'utf8')).toBe('mine');
  expect(existsSync(join(root, 'data/a.txt'))).toBe(false);
});
