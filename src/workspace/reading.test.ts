import { execFileSync } from 'node:child_process';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Repository, realGit } from '../../test/kit/real-git.ts';
import { Desk } from './desk.ts';
import { Reading } from './reading.ts';
import { readSource } from './source.ts';

const signal = new AbortController().signal;
const LINES = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('');

/** A repository and a workspace of it, in which `a.txt` is changed, `b b.bin` added and `gone` removed. */
async function place() {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const repository = new Repository(join(root, 'repository'), { 'a.txt': LINES, gone: 'x\n', '.gitignore': 'out/\n' });
  const base = repository.git('rev-parse', 'HEAD');
  const workspace = join(root, 'workspace');
  repository.git('worktree', 'add', '-q', '-b', 'night/row', workspace);
  const source = await readSource(realGit, repository.folder, join(root, 'copies'), signal);
  const desk = join(root, 'desk');
  const made = await Desk.open(realGit, { folder: desk, workspace, source, branch: 'night/row' }, signal);
  await made.change(base);
  writeFileSync(join(workspace, 'a.txt'), LINES.replace('line 3', 'l\u001b[31mne 3'));
  writeFileSync(join(workspace, 'b b.bin'), Buffer.from([0, 0xff, 1]));
  writeFileSync(join(workspace, 'latin'), Buffer.from([0x6d, 0xfc, 0x0a]));
  rmSync(join(workspace, 'gone'));
  const reading = await Reading.open(realGit, { desk, repository: repository.folder }, signal);
  onTestFinished(() => reading[Symbol.asyncDispose]());
  return { root, repository, base, workspace, desk, reading };
}

test('W7 reading a workspace changes neither it, nor its desk, nor its repository', async () => {
  const { root, base, workspace, desk, repository, reading } = await place();
  const seen = () => [root, desk, repository.folder].map(stampsOf);
  const before = seen();
  const span = { base, ...(await reading.files(workspace, base)) };
  expect((await reading.change(span)).files).toEqual([
    { path: 'a.txt', kind: 'changed', added: 1, deleted: 1 },
    { path: 'b b.bin', kind: 'added' },
    { path: 'gone', kind: 'removed', added: 0, deleted: 1 },
    { path: 'latin', kind: 'added', added: 1, deleted: 0 },
  ]);
  const patch = readFileSync(await reading.diff(span, ['--binary']));
  expect(seen()).toEqual(before);
  // The patch makes the same files, byte for byte.
  execFileSync('git', ['apply', '--index', '-'], { cwd: repository.folder, input: patch });
  for (const file of ['a.txt', 'b b.bin', 'latin']) {
    expect(readFileSync(join(repository.folder, file))).toEqual(readFileSync(join(workspace, file)));
  }
  expect(repository.git('write-tree')).toBe(span.tree);
  expect(readFileSync(await reading.diff(span, ['--name-only']), 'utf8')).toBe('a.txt\nb b.bin\ngone\nlatin\n');
});

/** Times and sizes of all files. Git touches an object that it would write again. */
function stampsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => {
    const { mtimeNs, size, ino } = statSync(join(parentPath, name), { bigint: true });
    const time = parentPath.includes('/objects/') ? '' : mtimeNs;
    return `${join(parentPath, name)} ${time} ${size} ${ino}`;
  });
}

test.each(['with', 'without'])('S13 W7 %s a desk, files of 5 GB are named and not read', async (which) => {
  const { root, repository, base, workspace, desk } = await place();
  const [big, tracked] = [join(workspace, 'big'), join(workspace, 'a.txt')];
  const seenAt = new Date('2020-01-01');
  for (const file of [big, tracked]) {
    writeFileSync(file, '');
    truncateSync(file, 5 * 2 ** 30);
    // Reading it would move this on.
    utimesSync(file, seenAt, new Date());
  }
  const found = which === 'with' ? desk : join(root, 'none');
  await using reading = await Reading.open(realGit, { desk: found, repository: repository.folder }, signal);
  const span = { base, ...(await reading.files(workspace, base)) };
  const { files } = await reading.change(span);
  expect(files.filter(({ isTooLarge }) => isTooLarge).map(({ path, kind }) => `${kind} ${path}`)).toEqual(
    which === 'with' ? ['added big', 'changed a.txt'] : ['changed a.txt', 'added big'],
  );
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['b b.bin', 'gone', 'latin']));
  expect(readFileSync(await reading.diff(span, []), 'utf8')).not.toContain('big');
  expect(await reading.isPartOf(span, span.base)).toBe(false);
  expect([big, tracked].map((file) => statSync(file).atime)).toEqual([seenAt, seenAt]);
});

test('W7 a change is found in a branch that merged or squashed it, whatever came after', async () => {
  const { base, workspace, repository, reading } = await place();
  const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace });
  const span = { base, ...(await reading.files(workspace, base)) };
  const isIn = (branch: string) => reading.isPartOf(span, repository.git('rev-parse', branch));
  expect(await isIn('main')).toBe(false);
  // Two commits in the workspace, as an agent makes them.
  git('add', 'a.txt');
  git('commit', '-qm', 'one');
  git('add', '--all');
  git('commit', '-qm', 'two');
  const start = (branch: string) => repository.git('checkout', '-q', '-b', branch, base);

  start('merged');
  repository.commit('other', { other: 'y\n' });
  repository.git('merge', '-q', '--no-ff', '-m', 'merge', 'night/row');
  expect(await isIn('merged')).toBe(true);

  start('squashed');
  repository.git('merge', '-q', '--squash', 'night/row');
  repository.commit('squash');
  expect(await isIn('squashed')).toBe(true);
  repository.commit('more', { other: 'y\n', 'a.txt': `${LINES.replace('line 3', 'something else')}` });
  expect(await isIn('squashed')).toBe(true);

  // Indentation is part of a change.
  start('indented');
  repository.git('merge', '-q', '--squash', 'night/row');
  repository.commit('squash', { 'a.txt': readFileSync(join(workspace, 'a.txt'), 'utf8').replace('ne 3', 'n  e 3') });
  expect(await isIn('indented')).toBe(false);

  start('half');
  repository.git('checkout', '-q', 'night/row~1', '--', 'a.txt');
  repository.commit('only a part of it');
  expect(await isIn('half')).toBe(false);
});

test('W7 without a desk, the objects of the repository are read; without a base, everything is new', async () => {
  const { root, base, workspace, repository } = await place();
  await using reading = await Reading.open(
    realGit,
    { desk: join(root, 'none'), repository: repository.folder },
    signal,
  );
  const { tree } = await reading.files(workspace, base);
  expect((await reading.change({ base, tree })).files).toHaveLength(4);
  expect(await reading.treeOf(base)).toBe(repository.git('rev-parse', 'HEAD^{tree}'));
  expect(await reading.treeOf('0'.repeat(40))).toBeUndefined();
  const all = await reading.change({ base: undefined, tree });
  expect(all.files.map(({ path, kind }) => `${kind} ${path}`)).toContain('added .gitignore');
});
