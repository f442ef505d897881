import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../../store/folder/layout.ts';
import { watchFolders } from './watch-folders.ts';

const IDENTITY = { GIT_AUTHOR_NAME: 't', GIT_COMMITTER_NAME: 't', GIT_AUTHOR_EMAIL: 't@e', GIT_COMMITTER_EMAIL: 't@e' };
/** With `page.txt` committed, and `*.db` and `dist` ignored. */
const REPOSITORY = 'printf "dist/\n*.db\n" > .gitignore; git init -q; git add .; git commit -qm All';
/** A repository inside of the project, as `git clone` leaves one. */
const CLONE = 'git init -q dep; echo a > dep/f.txt; git -C dep add .; git -C dep commit -qm One';

/** What two qas that do this, one after the other, are found to have changed. */
async function changesBy(before: string, sh: string): Promise<(readonly string[])[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-folders-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const run = (text: string) => execFileSync('sh', ['-c', text], { cwd: root, env: { ...process.env, ...IDENTITY } });
  writeFileSync(join(root, 'page.txt'), 'old\n');
  run(before);
  const warnings: string[] = [];
  const world = { cwd: root, env: process.env, now: Date.now };
  const folders = watchFolders(shiftPaths(root, 'night'), world, (message) => warnings.push(message));
  const { signal } = new AbortController();
  const found: (readonly string[])[] = [];
  for (let qa = 0; qa < 2; qa++) {
    using watch = await folders.watch({ folder: root, protect: [], alone: true, signal });
    run(sh);
    found.push((await watch.changes()).files);
  }
  expect(warnings).toEqual([]);
  return found;
}

test.each([
  ['adds a file', 'date +%N > more.txt', ['more.txt']],
  ['removes a file', 'rm -f page.txt; date +%N > more.txt', ['more.txt', 'page.txt']],
  ['puts size and time of a file back', 'echo new > page.txt; touch -d @1000000000 page.txt', ['page.txt']],
])('Q2 outside of git, a qa that %s is noticed', async (_, sh, files) => {
  const [first] = await changesBy('touch -d @1000000000 page.txt', sh);
  expect(first).toEqual(files);
});

test.each([
  ['edits a repository inside the repository', CLONE, 'date +%N > dep/f.txt', 'dep/f.txt'],
  ['edits a submodule', `${CLONE}; git add dep 2>&1; git commit -qm Two`, 'date +%N > dep/f.txt', 'dep/f.txt'],
  [
    'makes a repository that hides its files',
    '',
    'rm -rf x; git init -q x; echo "*" > x/.git/info/exclude; echo > x/f',
    'x',
  ],
  ['edits what info/exclude hid before', 'echo out/ > .git/info/exclude', 'mkdir -p out; date > out/a', 'out/a'],
  [
    'edits what core.excludesFile hid before',
    'echo a.new > .git/x; git config core.excludesFile "$PWD/.git/x"; touch a.new',
    'date +%N > a.new',
    'a.new',
  ],
  ['hides a file by info/exclude', '', 'echo evil.txt > .git/info/exclude; date +%N > evil.txt', '.git/info/exclude'],
  [
    'hides a file by core.excludesFile',
    '',
    'echo "*.new" > .git/x; git config core.excludesFile "$PWD/.git/x"; date +%N > a.new',
    'a.new',
  ],
  [
    'hides a folder by a .gitignore that hides itself',
    '',
    'mkdir -p new; echo "*" > new/.gitignore; date +%N > new/a',
    'new',
  ],
  [
    'adds to what hides itself',
    'mkdir -p d; touch d/k; printf "*\n!k\n" > d/.gitignore',
    'echo "#" >> d/.gitignore; date +%N > d/b',
    'd/.gitignore',
  ],
  [
    'makes git assume that nothing changed',
    '',
    'git update-index --assume-unchanged page.txt; date +%N > page.txt',
    'page.txt',
  ],
  ['makes the repository bare', '', 'git config core.bare true; date +%N > page.txt', 'page.txt'],
  ['removes the repository', '', 'rm -rf .git; date +%N > page.txt', '.git'],
])('Q2 in git, a qa that %s is noticed, the first time and the second', async (_, before, sh, file) => {
  const [first, second] = await changesBy(`${REPOSITORY}; ${before || ':'}`, sh);
  expect(first).toContain(file);
  expect(second).not.toEqual([]);
});
