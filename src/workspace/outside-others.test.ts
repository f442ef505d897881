import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

const { signal } = new AbortController();
const itemOf = (row: number) => ({ id: `row-${row}.0`, row, label: `${row}.ts` });

/** Rows of a repository with a remote. Those that have left have a result: one file. */
async function rows(left: readonly number[], atWork: readonly number[]) {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('.', 'init', '-q', '--bare', 'remote.git');
  site.run('project', 'remote', 'add', 'origin', join(site.root, 'remote.git'));
  const workspaces = site.open();
  const open = async (row: number, more = {}) =>
    opened(await workspaces.open(site.request({ item: itemOf(row), ...more })));
  const act = (folder: string, script: string) => execFileSync('sh', ['-ec', script], { cwd: folder, stdio: 'pipe' });
  const folders = new Map<number, string>();
  for (const row of left) {
    const one = await open(row);
    act(one.top, 'echo done > done.txt');
    await changed(one);
    one.leave();
    folders.set(row, one.top);
  }
  const working = [];
  for (const row of atWork) working.push(await open(row));
  return { site, workspaces, open, act, folders, working };
}

test('W11 who alone was at work when the workspace of another row changed did it; the other gets its result back', async () => {
  const { site, open, act, folders, working } = await rows([1, 2], [3]);
  const [three] = working;
  expect(await three!.trespassOf([])).toBeUndefined();
  act(folders.get(1)!, 'echo evil > evil.txt; rm done.txt');
  const reason = 'it changed done.txt, evil.txt of the workspace of row 1, outside of its workspace';
  expect(await three!.trespassOf([])).toBe(reason);
  act(folders.get(1)!, 'echo again >> evil.txt');
  const judged = await open(1, { role: 'qa', isContinued: true });
  expect([existsSync(join(judged.top, 'done.txt')), existsSync(join(judged.top, 'evil.txt'))]).toEqual([true, false]);
  const left = site.run(
    '.',
    `--git-dir=${join('engine/desks', itemOf(1).id)}`,
    'show',
    'refs/nightshift/left/1:evil.txt',
  );
  expect(left).toBe('evil\nagain');
  // The second change was found before row 1 was at work again.
  expect(await three!.trespassOf([])).toContain('it changed evil.txt of the workspace of row 1');
  expect(site.warnings).toEqual([]);
});

test('W11 of several at work none is blamed for it, but told; and what happened while none was', async () => {
  const { site, workspaces, act, folders, working } = await rows([1, 2], [3, 4]);
  const [three, four] = working;
  act(folders.get(1)!, 'cd ..; rm -rf "$OLDPWD"');
  expect([await three!.trespassOf([]), await four!.trespassOf([])]).toEqual([undefined, undefined]);
  expect(site.warnings).toEqual([]);
  three!.leave();
  four!.leave();
  await workspaces.lookOutside();
  expect(site.warnings).toEqual(['the workspace of row 1: its folder changed while rows 3, 4 were running']);
  act(folders.get(2)!, 'echo by a person > done.txt');
  await workspaces.lookOutside();
  expect(site.warnings[1]).toBe('the workspace of row 2: done.txt changed while no row was running');
});

test('W11 of many workspaces a few are looked at in turn, and at once what a tool call names', async () => {
  const many = Array.from({ length: 9 }, (_, i) => i + 1);
  const { site, workspaces, act, folders, working } = await rows(many, [10]);
  const [ten] = working;
  const call = `echo evil > ${folders.get(9)}/evil.txt`;
  act(ten!.top, call);
  expect(await ten!.trespassOf([call])).toBe('it changed evil.txt of the workspace of row 9, outside of its workspace');
  expect(await ten!.trespassOf([`cat ${folders.get(8)}/done.txt`])).toBeUndefined();
  for (const row of [1, 9]) act(folders.get(row)!, 'echo evil >> evil.txt');
  const looks = [await ten!.trespassOf([]), await ten!.trespassOf([]), await ten!.trespassOf([])].join();
  expect(looks).toMatch(/workspace of row 1,.*workspace of row 9,|workspace of row 9,.*workspace of row 1,/);
  ten!.leave();
  await workspaces.lookOutside();
  expect(site.warnings).toEqual([]);
});

const COMMIT = 'git -c user.name=x -c user.email=x@y commit -q --allow-empty -m evil';

test('W11 who pushed or moved a branch is shown by the commit, also if several were at work', async () => {
  const { site, act, working } = await rows([], [3, 4]);
  const [three, four] = working;
  site.run('project', 'branch', 'old');
  expect(await four!.trespassOf([])).toBeUndefined();
  act(three!.top, `${COMMIT}; git push -q ../../../../remote.git HEAD:new; git update-ref refs/heads/old HEAD`);
  const remote = join(site.root, 'remote.git');
  expect(await four!.trespassOf([])).toBeUndefined();
  expect(await three!.trespassOf([])).toBe(
    `it changed refs/heads/old of ${site.project}, outside of its workspace; ` +
      `it changed refs/heads/new of ${remote}, outside of its workspace`,
  );
  // What a person pushes meanwhile is theirs.
  site.run('project', 'push', '-q', 'origin', 'main');
  expect([await three!.trespassOf([]), await four!.trespassOf(['git commit -m x'])]).toEqual([undefined, undefined]);
  three!.leave();
  expect(await four!.trespassOf([])).toBeUndefined();
  expect(site.warnings).toEqual([`${remote}: refs/heads/main changed while rows 3, 4 were running`]);
});

test('W11 a push to a remote elsewhere is seen in what git notes of it; a fetch is none', async () => {
  const site = new WorkspaceSite();
  const commit = site.repository({ 'a.txt': 'a\n' });
  site.run('project', 'remote', 'add', 'origin', 'https://example.org/x.git');
  const note = (message: string, name: string) =>
    site.run('project', 'update-ref', '--create-reflog', '-m', message, `refs/remotes/origin/${name}`, commit);
  const workspaces = site.open();
  const three = opened(await workspaces.open(site.request()));
  note('fetch origin: storing head', 'fetched');
  note('update by push', 'pushed');
  expect(await three.trespassOf(['git push -q origin HEAD:pushed'])).toBe(
    `it changed origin/pushed (by a push) of ${site.project}, outside of its workspace`,
  );
  note('update by push', 'later');
  expect(await three.trespassOf([])).toBeUndefined();
  three.leave();
  await workspaces.lookOutside();
  expect(site.warnings).toEqual([`${site.project}: origin/later (by a push) changed while row 3 was running`]);
});

test('W11 what an agent pushes from a clone is shown by the commit', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.run('.', 'clone', '-q', '--bare', 'project', 'remote.git');
  const repo = join(site.root, 'remote.git');
  const three = opened(await site.open().open(site.request({ kind: 'clone', repo })));
  execFileSync('sh', ['-ec', `${COMMIT}; git push -q origin HEAD:main`], { cwd: three.top });
  expect(await three.trespassOf([])).toBe(`it changed refs/heads/main of ${repo}, outside of its workspace`);
  expect((await three.change(signal)).kind).toBe('change');
});
