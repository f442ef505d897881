import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import type { Git } from './git.ts';

const { signal } = new AbortController();
const OTHER = { id: 'other.0', row: 5, label: 'b.ts' };

async function twoAtWork() {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n', '.gitignore': 'cache/\n' });
  site.run('project', 'branch', 'old');
  site.write('project/dirty.txt', 'uncommitted\n');
  const workspaces = site.open();
  const three = opened(await workspaces.open(site.request()));
  const five = opened(await workspaces.open(site.request({ item: OTHER })));
  const run = (script: string) => {
    const calls = [script.replaceAll('$PROJECT', site.project).replaceAll('$OTHER', five.top)];
    execFileSync('sh', ['-c', calls[0]!], { cwd: three.top, stdio: 'pipe' });
    return calls;
  };
  return { site, workspaces, three, five, run };
}

test.each([
  ['a file of the main checkout', 'echo x > $PROJECT/a.txt', 'a.txt'],
  ['a file that was changed already', 'echo x >> $PROJECT/dirty.txt', 'dirty.txt'],
  ['the index of the main checkout', 'git -C $PROJECT add dirty.txt', 'dirty.txt, the index'],
  ['HEAD of the main checkout', 'git -C $PROJECT symbolic-ref HEAD refs/heads/old; : git checkout', 'HEAD'],
  ['a branch', 'git branch -D old', 'refs/heads/old'],
  ['hooks', 'echo x > $PROJECT/.git/hooks/pre-push', '.git/hooks/pre-push'],
  ['settings', 'git config core.hooksPath /x', '.git/config core.hookspath'],
])('W11 who changes %s fails if a tool call shows it; otherwise it is told', async (_, script, names) => {
  const { site, three, five, run } = await twoAtWork();
  const calls = run(script);
  // Row 5 did not do it, and row 3 may still show that it did.
  expect(await five.trespassOf(['echo x > a.txt', 'git diff old'])).toBeUndefined();
  expect(site.warnings).toEqual([]);
  const reason = `it changed ${names} of ${site.project}, outside of its workspace`;
  expect(await three.trespassOf(calls)).toBe(reason);
  expect(await three.trespassOf(calls)).toBeUndefined();

  site.write('project/a.txt', 'by a person\n');
  expect(await three.trespassOf([])).toBeUndefined();
  three.leave();
  expect(await five.trespassOf([])).toBeUndefined();
  expect(site.warnings).toEqual([expect.stringContaining('a.txt changed while rows 3, 5 were running')]);
});

test('W11 what an item does in its workspace, and what the engine does, is nothing outside', async () => {
  const { site, three, five, run } = await twoAtWork();
  const calls = run(
    'git checkout -qb mine; echo x > new; git add -A; git -c user.name=x -c user.email=x@y commit -qm x; git stash -q || true',
  );
  site.write('project/cache/x', 'ignored\n');
  site.write('project/.nightshift/night/table.csv', 'changed\n');
  expect(await three.change(signal)).toMatchObject({ kind: 'change' });
  expect([await three.trespassOf(calls), await five.trespassOf([])]).toEqual([undefined, undefined]);
  three.leave();
  expect([await five.trespassOf([]), site.warnings]).toEqual([undefined, []]);
});

/** Row 5 has a result, and its base has moved; row 3 is at work. `before`: what happens before git does something. */
async function rowToBegin() {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const before: { looking?: () => Promise<unknown>; adding?: () => Promise<unknown>; filling?: () => void } = {};
  const git: Git = {
    run: async (call) => {
      if (call.folder === site.project && call.args.includes('--others')) await before.looking?.();
      if (call.args.includes('worktree') && call.args.includes('add')) await before.adding?.();
      return site.git.run(call);
    },
  };
  const workspaces = site.open({ git, failpoint: (name) => name === 'workspace:added' && before.filling?.() });
  const open = async (changes = {}) => opened(await workspaces.open(site.request(changes)));
  const five = await open({ item: OTHER });
  writeFileSync(join(five.top, 'new.txt'), 'new\n');
  await five.change(signal);
  five.leave();
  site.write('project/b.txt', 'b\n');
  site.commit();
  await workspaces.lookOutside();
  site.warnings.length = 0;
  const three = await open();
  const end = async () => {
    three.leave();
    await workspaces.lookOutside();
    return site.warnings;
  };
  return { before, three, begin: () => open({ item: OTHER }), end };
}

test('W11 a look that is under way when a row begins takes its new branch for no change of others', async () => {
  const { before, three, begin, end } = await rowToBegin();
  // The look reads the branches now, and ends when row 5 is at work.
  const looked = new Promise<string | undefined>((resolve) => {
    before.filling = () => resolve(three.trespassOf([]));
  });
  const begun = begin();
  before.looking = () => begun;
  expect(await looked).toBeUndefined();
  expect(await end()).toEqual([]);
});

test('W11 a look that is under way when a row begins takes its removed folder for no change of others', async () => {
  const { before, three, begin, end } = await rowToBegin();
  let begun: Promise<unknown> | undefined;
  before.looking = () =>
    new Promise<void>((removed) => {
      delete before.looking;
      before.adding = async () => {
        removed();
        await looked;
      };
      begun = begin();
    });
  const looked = three.trespassOf([]);
  expect(await looked).toBeUndefined();
  await begun;
  expect(await end()).toEqual([]);
});

test('W11 an item that goes into the workspace of another fails, and the other starts over from its clean state', async () => {
  const { site, workspaces, three, five, run } = await twoAtWork();
  expect(await three.trespassOf(run('echo evil > $OTHER/evil.txt'))).toBe('it went into the workspace of row 5');
  const reason = 'row 3 went into its workspace: it starts over';
  expect(await five.change(signal)).toEqual({ kind: 'trouble', trouble: { reason } });
  five.leave();
  const again = opened(await workspaces.open(site.request({ item: OTHER })));
  expect(await again.change(signal)).toEqual({ kind: 'change', change: { files: [] } });
  expect(site.run('.', `--git-dir=${join('engine/desks', OTHER.id)}`, 'show', 'refs/nightshift/left/1:evil.txt')).toBe(
    'evil',
  );
});

test('W11 a repository whose hooks and index are no folder and no file any more is looked at without harm', async () => {
  const { three, run } = await twoAtWork();
  run('rm -rf $PROJECT/.git/hooks; echo > $PROJECT/.git/hooks; rm $PROJECT/.git/index; mkfifo $PROJECT/.git/index');
  expect(await three.trespassOf([])).toBeUndefined();
});
