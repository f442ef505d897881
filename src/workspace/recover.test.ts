import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import type { Git } from './git.ts';
import type { WorkspacePoint } from './local-workspaces.ts';

const { signal } = new AbortController();

class Killed extends Error {}

/** Where git keeps what it knows of a working tree or clone. */
function gitDirOf(site: WorkspaceSite, folder: string): string {
  return site.run(folder, 'rev-parse', '--absolute-git-dir');
}

/** A process that ends at a point. */
function mortal(site: WorkspaceSite, point: WorkspacePoint) {
  return site.open({
    failpoint: (name) => {
      if (name === point) throw new Killed();
    },
  });
}

test.each<[WorkspacePoint, boolean]>([
  ['workspace:recorded', false],
  ['workspace:added', false],
  ['workspace:ready', true],
])('W7 a kill at %s leaves nothing that the next run does not know', async (point, isKept) => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'worktree', 'add', '-q', '../stale');
  rmSync(join(site.root, 'stale'), { recursive: true });
  await expect(mortal(site, point).open(site.request())).rejects.toThrow(Killed);
  const folder = (await site.records.all())[0]!.folder;
  await site.open().recover(signal);
  expect(existsSync(folder)).toBe(isKept);
  expect((await site.records.all()).length).toBe(isKept ? 1 : 0);
  const trees = site.run('project', 'worktree', 'list', '--porcelain');
  expect(trees.includes(folder)).toBe(isKept);
  // A stale working tree of the person stays theirs.
  expect(trees).toContain('/stale');
  const workspace = opened(await site.open().open(site.request()));
  expect(workspace.top).toBe(folder);
  expect(await changed(workspace)).toEqual([]);
});

test('W7 a kill while a result is kept or a workspace is removed is repaired', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const workspace = opened(await mortal(site, 'workspace:kept').open(site.request()));
  const inside = workspace.top.slice(site.root.length + 1);
  site.write(`${inside}/b.txt`, 'b\n');
  await expect(workspace.change(signal)).rejects.toThrow(Killed);
  const again = opened(await site.open().open(site.request({ role: 'qa' })));
  expect(await changed(again)).toEqual(['added b.txt']);
  const record = (await site.records.all())[0]!;
  site.run(inside, 'commit', '-qm', 'empty', '--allow-empty');
  await expect(mortal(site, 'workspace:removed').remove(record, signal)).rejects.toThrow(Killed);
  await site.open().recover(signal);
  expect(await site.records.all()).toEqual([]);
  expect(existsSync(workspace.top)).toBe(false);
  // A branch that holds something stays.
  expect(site.run('project', 'branch', '--list', 'nightshift/*')).toContain(workspace.branch);
});

test.each(['worktree', 'clone'] as const)('W7 a kill while a %s is reset is repaired', async (kind) => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'a.txt': 'a\n' });
  const request = site.request(kind === 'clone' ? { kind, repo: site.project } : {});
  const { top, branch } = opened(await site.open().open(request));
  const inside = top.slice(site.root.length + 1);
  site.write(`${inside}/b.txt`, 'b\n');
  site.run(inside, 'add', '-A');
  site.run(inside, 'commit', '-qm', 'by the agent');
  // Both were killed: the agent while it called git, and then the engine just after the files were written.
  for (const name of ['index.lock', 'HEAD.lock']) writeFileSync(join(gitDirOf(site, inside), name), '');
  const isFilled = (args: readonly string[]) => args[0] === 'read-tree' && args.includes('--reset');
  const git: Git = {
    run: async (call) => {
      const result = await site.git.run(call);
      if (isFilled(call.args)) throw new Killed();
      return result;
    },
  };
  await expect(site.open({ git }).open(request)).rejects.toThrow(Killed);
  await site.open().recover(signal);
  opened(await site.open().open(request));
  expect(site.run(inside, 'rev-parse', 'HEAD', branch)).toBe(`${base}\n${base}`);
  site.write(`${inside}/b.txt`, 'b\n');
  site.run(inside, 'add', '-A');
  expect(site.run(inside, 'status', '--porcelain')).toBe('A  b.txt');
  site.run(inside, 'commit', '-qm', 'by the agent');
});

test.each(['worktree', 'clone'] as const)('W7 in a %s that was reset to a result, git works', async (kind) => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const request = site.request(kind === 'clone' ? { kind, repo: site.project } : {});
  const first = opened(await site.open().open(request));
  const inside = first.top.slice(site.root.length + 1);
  site.write(`${inside}/b.txt`, 'b\n');
  expect(await changed(first)).toEqual(['added b.txt']);
  const second = { ...request, task: 'second' };
  opened(await site.open().open(second));
  site.write(`${inside}/c.txt`, 'interrupted\n');
  opened(await site.open().open(second));
  // Only the desk has the content of b.txt.
  expect(site.run(inside, 'status', '--porcelain')).toBe('?? b.txt');
  site.run(inside, 'add', '-A');
  site.run(inside, 'commit', '-qm', 'by the agent');
  expect(site.run(inside, 'show', 'HEAD:b.txt')).toBe('b');
});

test('W7 locks and halves that a killed git left do not stop a run', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const { branch, top } = opened(await site.open().open(site.request()));
  const trees = join(site.project, '.git/worktrees');
  const common = join(site.project, '.git/refs/heads');
  const locks = [
    ...['index.lock', 'HEAD.lock', 'refs/nightshift/result/first.lock'].map((name) =>
      join(site.root, 'engine/desks/3f9a2c77e0.0', name),
    ),
    ...[branch, 'nightshift/upgrade/merged'].map((name) => join(common, `${name}.lock`)),
  ];
  for (const lock of locks) {
    mkdirSync(join(lock, '..'), { recursive: true });
    writeFileSync(lock, '');
  }
  // A person works on this one.
  writeFileSync(join(common, 'main.lock'), '');
  // `git worktree add` was killed before it had written where the working tree is.
  mkdirSync(join(trees, '3-gro-e-ts1'));
  await site.open().recover(signal);
  expect(locks.filter((lock) => existsSync(lock))).toEqual([]);
  expect(existsSync(join(common, 'main.lock'))).toBe(true);
  expect(site.warnings).toEqual([
    expect.stringMatching(/^removed locks that a killed git had left: .*gro-e-ts\.lock, /),
  ]);
  const workspace = opened(await site.open().open(site.request()));
  site.write(`${top.slice(site.root.length + 1)}/b.txt`, 'b\n');
  expect(await changed(workspace)).toEqual(['added b.txt']);
  await site.open().remove((await site.records.all())[0]!, signal);
  expect(existsSync(trees)).toBe(false);
});

test('W7 a mirror that a kill left half made is made again', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const request = site.request({ kind: 'clone', repo: site.project });
  const git: Git = {
    run: async (call) => {
      const result = await site.git.run(call);
      if (call.args[0] === 'init') throw new Killed();
      return result;
    },
  };
  await expect(site.open({ git }).open(request)).rejects.toThrow(Killed);
  const [name] = readdirSync(join(site.root, 'mirrors'));
  writeFileSync(join(site.root, 'mirrors', name!, 'config.lock'), '');
  opened(await site.open().open(request));
});

test('W7 a person may remove or rename anything, and gets a sentence', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const first = opened(await site.open().open(site.request()));
  const inside = first.top.slice(site.root.length + 1);
  site.write(`${inside}/b.txt`, 'b\n');
  expect(await changed(first)).toEqual(['added b.txt']);

  renameSync(first.top, join(site.root, 'moved'));
  await site.open().recover(signal);
  expect(site.warnings.splice(0)).toEqual([
    `row 3: its workspace ${first.top} is gone; it is made again when an agent needs it`,
  ]);
  const qa = opened(await site.open().open(site.request({ role: 'qa' })));
  expect(await changed(qa)).toEqual(['added b.txt']);
  expect(existsSync(join(site.root, 'moved/b.txt'))).toBe(true);

  // The repository forgets the working tree, and its branch is deleted.
  site.write(`${inside}/c.txt`, 'c\n');
  rmSync(join(site.project, '.git/worktrees'), { recursive: true });
  site.run('project', 'branch', '-D', first.branch);
  const second = opened(await site.open().open(site.request({ task: 'second' })));
  expect(await changed(second)).toEqual([]);
  expect(site.run(inside, 'status', '--porcelain')).toBe('?? b.txt');
  expect(site.run('.', '--git-dir=engine/desks/3f9a2c77e0.0', 'show', 'refs/nightshift/left/1:c.txt')).toBe('c');

  renameSync(site.project, join(site.root, 'renamed'));
  await site.open().recover(signal);
  const reason = `\`working-dir\` ${site.project} is not a folder`;
  expect(site.warnings).toEqual([`row 3: its workspace ${first.top} can't be used now: ${reason}`]);
  expect(await site.open().open(site.request())).toEqual({ kind: 'failed', reason, failurePoint: 'workspace' });
  // The folder can still be removed.
  await site.open().remove((await site.records.all())[0]!, signal);
  expect(existsSync(first.top)).toBe(false);
});

test('W1 W7 a copy of a folder without git', async () => {
  const site = new WorkspaceSite();
  site.write('project/sub/a.txt', 'a\n');
  site.write('project/run.sh', '#!/bin/sh\n', 0o755);
  site.write('project/.nightshift/upgrade/.env', 'SECRET=1\n');
  symlinkSync('sub/a.txt', join(site.project, 'link'));
  symlinkSync('/etc/hostname', join(site.project, 'out'));
  execFileSync('mkfifo', [join(site.project, 'pipe')]);
  const request = site.request({ kind: 'copy' });
  const copy = opened(await site.open().open(request));
  expect(readdirSync(copy.top).sort()).toEqual(['link', 'out', 'run.sh', 'sub']);
  expect(readlinkSync(join(copy.top, 'out'))).toBe('/etc/hostname');
  expect(lstatSync(join(copy.top, 'run.sh')).mode & 0o777).toBe(0o755);
  expect(site.warnings).toEqual([`not copied to ${copy.top}, since they are not files: pipe`]);
  writeFileSync(join(copy.top, 'sub/a.txt'), 'changed\n');
  rmSync(join(copy.top, 'link'));
  expect(await changed(copy)).toEqual(['removed link', 'changed sub/a.txt']);
  expect(readFileSync(join(site.project, 'sub/a.txt'), 'utf8')).toBe('a\n');
  // Removed by hand: restored from what was kept, also if the folder has changed since.
  rmSync(copy.top, { recursive: true });
  site.write('project/sub/a.txt', 'later\n');
  expect(await changed(opened(await site.open().open({ ...request, role: 'qa' })))).toEqual([
    'removed link',
    'changed sub/a.txt',
  ]);
  expect(await changed(opened(await site.open().open(request)))).toEqual([]);
  // Read-only folders go too.
  mkdirSync(join(copy.top, 'cache'));
  site.write(`${copy.top.slice(site.root.length + 1)}/cache/x`, 'x');
  chmodSync(join(copy.top, 'cache'), 0o500);
  await site.open().remove((await site.records.all())[0]!, signal);
  expect(existsSync(copy.top)).toBe(false);
  const other = { ...request, folder: join(site.project, 'inside') };
  expect(await site.open().open(other)).toMatchObject({ kind: 'failed' });
});
