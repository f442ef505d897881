import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { Forge } from '../kit/forge.ts';

/** A project with a partial clone `app`, whose checkout has only the files at its top. Its remote is reached by SSH. */
function place() {
  const forge = new Forge();
  forge.create('acme/app', { 'a.txt': 'a\n', 'lib/deep/b.txt': 'b\n', 'lib/c.txt': 'c\n' });
  for (const key of ['allowFilter', 'allowAnySHA1InWant']) forge.git('acme/app', 'config', `uploadpack.${key}`, 'true');
  const project = new Project();
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: project.root, env: { ...process.env, ...forge.env }, encoding: 'utf8' }).trim();
  // Another branch, with files that no clone gets at first.
  git('clone', '-q', join(forge.root, 'acme/app.git'), 'person');
  git('-C', 'person', 'checkout', '-q', '-b', 'next');
  project.write('person/lib/c.txt', 'C\n');
  project.write('person/lib/next.txt', 'next\n');
  git('-C', 'person', 'add', '-A');
  git('-C', 'person', 'commit', '-qm', 'next');
  git('-C', 'person', 'push', '-q', 'origin', 'next');
  git('clone', '-q', '--filter=blob:none', '--sparse', 'git@github.com:acme/app.git', 'app');
  git('-C', 'app', 'branch', '-q', 'next', 'origin/next');
  const lacks = (branch: string) =>
    git('-C', 'app', 'rev-list', '--objects', '--missing=print', '-1', branch).match(/^\?/gm)?.length ?? 0;
  const shift = (settings: Record<string, string | number | boolean>) =>
    project.shift('night', {
      settings: { agent: 'shell', attempts: 1, 'working-dir': 'app', workspace: 'worktree', ...settings },
      table: 'name,work\none,todo\ntwo,todo\n',
      tasks: { work: shellTask('cat lib/deep/b.txt lib/c.txt > {name}.txt', 'grep -q b {name}.txt') },
    });
  return { forge, project, git, lacks, shift };
}

test('W1 W8 a worktree of a partial clone has all its files, and is merged into a branch that lacks some', async () => {
  const { forge, git, lacks, shift } = place();
  const checkout = () => [git('-C', 'app', 'status', '--porcelain'), git('-C', 'app', 'ls-files', '-t', 'lib')];
  const before = checkout();
  expect([lacks('main'), lacks('next')]).toEqual([2, 3]);
  const night = shift({ base: 'main', deliver: 'merge', into: 'next', parallel: true, 'current-batch-size': 2 });
  const { code } = await night.start([], { env: forge.env });
  expect([code, night.column('work')]).toEqual([0, ['done', 'done']]);
  expect([git('-C', 'app', 'show', 'next:one.txt'), git('-C', 'app', 'show', 'next:two.txt')]).toEqual([
    'b\nc',
    'b\nc',
  ]);
  expect(git('-C', 'app', 'show', 'next:lib/next.txt')).toBe('next');
  expect([lacks('main'), checkout()]).toEqual([0, before]);
});

test('W1 W3 while the remote of a partial clone is away, its rows wait; a clone of it fails with what to do', async () => {
  const { forge, project, lacks, shift } = place();
  const away = join(forge.root, 'away');
  renameSync(join(forge.root, 'acme'), away);
  const night = shift({ deliver: 'push', patience: '1ms' });
  const waiting = await project.run(['start', 'night', '--plain'], { env: forge.env });
  expect([waiting.code, night.column('work')]).toEqual([4, ['todo', 'todo']]);
  expect(waiting.stdout).toContain("app is a partial clone, and its missing files can't be fetched from origin: ");
  renameSync(away, join(forge.root, 'acme'));
  expect((await night.start([], { env: forge.env })).code).toBe(0);
  expect(forge.git('acme/app', 'show', 'nightshift/night/two:two.txt')).toBe('b\nc');
  expect(lacks('main')).toBe(0);

  const clones = shift({ workspace: 'clone', repo: './app', 'working-dir': '.' });
  expect((await clones.start([], { env: forge.env })).code).toBe(3);
  const { reason } = clones.journal().findLast(({ type }) => type === 'dev:finished');
  expect(reason).toMatch(/app` is a partial clone, which can't be cloned: give the address of its remote origin, or/);
});
