import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DeliveryPlace, plainGit, valuesOf } from '../../../test/kit/delivery-place.ts';
import { checkedOutIn } from './branches.ts';

const MERGED = 'nightshift/night/merged';

test('W8 a branch holds one commit by the engine on top of the base, whatever the agent committed', async () => {
  using place = new DeliveryPlace();
  const folder = await place.row(1);
  place.write('row-1/new.txt', 'new\n');
  place.gitIn(folder, 'add', '-A');
  place.gitIn(folder, 'commit', '-qm', 'by the agent');
  place.write('row-1/a.txt', 'ONE\ntwo\nthree\n');
  const values = valuesOf(await place.deliver(1, 'branch', { author: 'A <a@example.org>' }));
  expect(values).toEqual({
    branch: 'nightshift/night/row-1',
    commit: place.git('rev-parse', 'nightshift/night/row-1'),
    pr_url: '',
    pr_state: '',
  });
  expect(place.git('log', '--format=%an|%B', 'main..nightshift/night/row-1')).toBe('A|Row 1\n\nNightshift-Key: key-1');
  expect(place.git('diff', '--stat', 'main', 'nightshift/night/row-1')).toMatch(/2 files changed/);
  expect(place.git('status', '--porcelain')).toBe('');
});

test('W8 a row that changed nothing is delivered with a note; no branch moves, no pull request opens', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  const result = await place.deliver(1, 'pr');
  expect(result).toMatchObject({ kind: 'delivered', note: 'nothing was changed, so nothing was delivered' });
  expect(valuesOf(result)).toEqual({ branch: '', commit: '', pr_url: '', pr_state: '' });
  expect(place.pullRequests).toEqual([]);
  expect(place.gitIn(place.remote, 'branch', '--list', 'nightshift/*')).toBe('');
});

test('W8 a hook that refuses is the reason, and nothing is delivered', async () => {
  using place = new DeliveryPlace();
  place.hook('repository/.git/hooks/pre-commit', 'echo "no commits at night" >&2; exit 1');
  await place.row(1);
  place.write('row-1/new.txt', 'new\n');
  expect(await place.deliver(1, 'push')).toEqual({
    kind: 'failed',
    reason: 'the commit was refused: no commits at night',
    failurePoint: 'delivery: commit',
  });
  expect(place.gitIn(place.remote, 'branch', '--list', 'nightshift/*')).toBe('');
});

test('W8 a branch that others moved stays as it is, and the reason names its commit', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/new.txt', 'new\n');
  const tree = place.git('rev-parse', 'main^{tree}');
  const foreign = place.git('commit-tree', '-p', 'main', '-m', 'of a person', tree);
  place.git('push', '-q', 'origin', `${foreign}:refs/heads/nightshift/night/row-1`);
  const pushed = await place.deliver(1, 'push');
  expect(pushed).toMatchObject({
    kind: 'failed',
    reason: expect.stringContaining(`${foreign.slice(0, 7)} of a person`),
  });
  expect(place.gitIn(place.remote, 'rev-parse', 'nightshift/night/row-1')).toBe(foreign);

  await place.row(2);
  place.write('row-2/new.txt', 'new\n');
  place.gitIn(join(place.root, 'row-2'), 'checkout', '-q', '--detach');
  place.git('update-ref', 'refs/heads/nightshift/night/row-2', foreign);
  const kept = await place.deliver(2, 'branch');
  expect(kept).toMatchObject({ kind: 'failed', reason: expect.stringContaining('of a person') });
  expect(place.git('rev-parse', 'nightshift/night/row-2')).toBe(foreign);
});

test('W8 merges go one on top of the other; checks see the merged files; a conflict names the other commit', async () => {
  using place = new DeliveryPlace();
  for (const row of [1, 2, 3, 4]) await place.row(row);
  place.write('row-1/a.txt', 'ONE\ntwo\nthree\n');
  place.write('row-2/b.txt', 'B\n');
  place.write('row-3/a.txt', 'eins\ntwo\nthree\n');
  place.write('row-4/c.txt', 'c\n');
  valuesOf(await place.deliver(1, 'merge'));
  expect(place.checks).toBe(0);
  let seen = '';
  place.check = async () => {
    seen = place.read('row-2/a.txt');
    return undefined;
  };
  const second = valuesOf(await place.deliver(2, 'merge', { author: 'A <a@example.org>' }));
  expect(seen).toBe('ONE\ntwo\nthree\n');
  expect(second.commit).toBe(place.git('rev-parse', MERGED));
  const first = place.git('log', '-1', '--format=%h', `${MERGED}~1`);
  expect(await place.deliver(3, 'merge')).toEqual({
    kind: 'failed',
    reason: `it conflicts in a.txt with ${first} Row 1 (${MERGED}); its branch is kept`,
    failurePoint: `delivery: conflict with ${first} Row 1`,
  });
  expect(place.git('log', '-1', '--format=%s', 'nightshift/night/row-3')).toBe('Row 3');
  place.check = async () => 'tests fail';
  const fourth = await place.deliver(4, 'merge');
  expect(fourth).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^on top of \w+ Row 2 .*tests fail/) });
  expect(place.gitIn(join(place.root, 'row-4'), 'diff', '--name-only', 'main')).toBe('');
  expect(place.git('log', '--format=%an %s', `main..${MERGED}`)).toBe('A Row 2\nPerson Row 1');
  expect(place.git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
  expect(place.git('status', '--porcelain')).toBe('');
});

test('W8 nothing is merged into a branch that is checked out', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  const { signal } = new AbortController();
  expect(await checkedOutIn(plainGit, place.repository, 'main', signal)).toEqual([place.repository]);
  expect(await checkedOutIn(plainGit, place.repository, MERGED, signal)).toEqual([]);
  expect(await place.deliver(1, 'merge', { into: 'main' })).toMatchObject({
    kind: 'trouble',
    trouble: { reason: `main is checked out in ${place.repository}` },
  });
  expect(place.git('log', '--format=%s', 'main')).toBe('first');
});

test('W7 W8 a branch that a person has checked out elsewhere is not moved under their files', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/a.txt', 'ONE\n');
  const elsewhere = join(place.root, 'elsewhere');
  place.git('worktree', 'add', '-q', '--force', elsewhere, 'nightshift/night/row-1');
  const reason = `nightshift/night/row-1 is checked out in ${elsewhere}`;
  const trouble = { reason, remedy: `check out another branch in ${elsewhere}` };
  expect(await place.deliver(1, 'branch')).toEqual({ kind: 'trouble', trouble });
  expect(place.gitIn(elsewhere, 'status', '--porcelain')).toBe('');
  place.gitIn(elsewhere, 'checkout', '-q', '--detach');
  expect(valuesOf(await place.deliver(1, 'branch')).branch).toBe('nightshift/night/row-1');
});

test('W8 a clone merges and pushes to the remote it came from', async () => {
  using place = new DeliveryPlace();
  for (const row of [1, 2]) await place.row(row, 'clone');
  place.write('row-1/a.txt', 'ONE\ntwo\nthree\n');
  place.write('row-2/b.txt', 'B\n');
  for (const row of [1, 2]) valuesOf(await place.deliver(row, 'merge', { into: 'main' }));
  expect(place.gitIn(place.remote, 'log', '--format=%s', 'main')).toBe('Row 2\nRow 1\nfirst');
  await place.row(3, 'clone');
  place.write('row-3/c.txt', 'c\n');
  valuesOf(await place.deliver(3, 'branch'));
  expect(place.gitIn(join(place.root, 'row-3'), 'log', '-1', '--format=%s')).toBe('Row 3');
});

test.each(['worktree', 'copy'] as const)('W8 the patch of a %s can be applied with git am', async (kind) => {
  using place = new DeliveryPlace();
  await place.row(1, kind);
  place.write('row-1/a.txt', 'one\ntwo\nthree\n \n');
  if (kind === 'copy') {
    expect(await place.deliver(1, 'branch')).toMatchObject({ kind: 'failed', failurePoint: 'delivery: settings' });
  }
  const result = await place.deliver(1, 'patch');
  expect(result).toMatchObject({ note: `the patch is in ${join(place.root, 'patches/1-row-1.patch')}` });
  place.git('am', '-q', join(place.root, 'patches/1-row-1.patch'));
  expect(place.git('log', '-1', '--format=%B')).toBe('Row 1\n\nNightshift-Key: key-1');
  expect(place.read('repository/a.txt')).toBe('one\ntwo\nthree\n \n');
});

test('W8 a server that refuses is the reason; one that can not be reached, or asks for a login, is trouble', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  place.hook('remote.git/hooks/pre-receive', 'echo "branches are frozen" >&2; exit 1');
  expect(await place.deliver(1, 'push')).toMatchObject({
    kind: 'failed',
    reason: expect.stringMatching(
      /^nightshift\/night\/row-1 can't be pushed: branches are frozen; \[remote rejected\]/,
    ),
  });
  rmSync(join(place.remote, 'hooks/pre-receive'));
  place.ghAnswer = { kind: 'exited', code: 4, stdout: '', stderr: 'To get started, please run:  gh auth login' };
  expect(await place.deliver(1, 'pr')).toMatchObject({ kind: 'trouble', trouble: { remedy: expect.any(String) } });
  place.ghAnswer = { kind: 'exited', code: 1, stdout: '', stderr: 'error connecting to api.github.com' };
  expect((await place.deliver(1, 'pr')).kind).toBe('trouble');
  place.ghAnswer = { kind: 'missing' };
  expect(await place.deliver(1, 'pr')).toMatchObject({ trouble: { reason: 'gh is not installed' } });
  place.ghAnswer = undefined;
  expect(valuesOf(await place.deliver(1, 'pr', { into: 'main' }))).toMatchObject({
    pr_url: 'https://forge.example/pull/1',
    pr_state: 'open',
  });
  expect(place.pullRequests).toMatchObject([{ title: 'Title 1', body: 'Body 1', base: 'main' }]);
});

test('W8 the push goes to the remote of the start of the run, and runs nothing that an agent configured', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  valuesOf(await place.deliver(1, 'branch'));
  const evil = `touch ${place.root}/evil; exit 1`;
  const elsewhere = join(place.root, 'elsewhere.git');
  execFileSync('git', ['init', '-q', '--bare', elsewhere]);
  place.hook('evil.sh', evil);
  place.git('remote', 'set-url', 'origin', elsewhere);
  place.git('config', 'core.hooksPath', place.root);
  place.git('config', 'core.alternateRefsCommand', evil);
  place.write('row-1/d.txt', 'd\n');
  const { commit, branch } = valuesOf(await place.deliver(1, 'push'));
  expect(place.gitIn(place.remote, 'rev-parse', `refs/heads/${branch}`)).toBe(commit);
  expect(place.gitIn(elsewhere, 'for-each-ref')).toBe('');

  // An address that runs a program is not used.
  const desk = place.deskOf(place.records.get('id-1')!);
  place.git('config', 'protocol.ext.allow', 'always');
  place.git('config', `remote.${desk}.uploadpack`, join(place.root, 'evil.sh'));
  place.git('config', `url.ext::${join(place.root, 'evil.sh')} .insteadOf`, desk);
  place.write('row-1/e.txt', 'e\n');
  const again = valuesOf(await place.deliver(1, 'push'));
  expect(place.gitIn(place.remote, 'rev-parse', `refs/heads/${branch}`)).toBe(again.commit);
  expect(existsSync(join(place.root, 'evil'))).toBe(false);
});

test('W8 pr-command gets what it needs in variables and prints the address', async () => {
  using place = new DeliveryPlace();
  await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  const source =
    'echo "$NIGHTSHIFT_BRANCH $NIGHTSHIFT_BASE_BRANCH $NIGHTSHIFT_TITLE $(cat "$NIGHTSHIFT_BODY_FILE") $own" >"$out"\n' +
    'echo "see https://forge.example/mr/7"';
  const out = join(place.root, 'asked');
  const prCommand = { source, values: { out, own: 'v' } };
  const values = valuesOf(await place.deliver(1, 'pr', { into: 'main', prCommand }));
  expect(values.pr_url).toBe('https://forge.example/mr/7');
  expect(place.read('asked')).toBe('nightshift/night/row-1 main Title 1 Body 1 v\n');
  const failing = { source: 'echo "quota used up" >&2; exit 3', values: {} };
  await place.row(2);
  place.write('row-2/c.txt', 'c\n');
  expect(await place.deliver(2, 'pr', { prCommand: failing })).toMatchObject({
    kind: 'failed',
    reason: '`pr-command` failed: quota used up',
  });
});

test('W10 a held delivery has its commit and branch only; sent later, it goes out as it was', async () => {
  using place = new DeliveryPlace();
  const folder = await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  const held = valuesOf(await place.deliver(1, 'pr', { isHeld: true }));
  expect(place.records.get('id-1')?.delivery).toMatchObject({ state: 'held', kind: 'pr', text: { title: 'Title 1' } });
  expect(place.pullRequests).toEqual([]);
  expect(place.gitIn(place.remote, 'branch', '--list', 'nightshift/*')).toBe('');
  execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: place.repository });
  const sent = valuesOf(await place.deliver(1, 'pr'));
  expect(sent.commit).toBe(held.commit);
  expect(place.gitIn(place.remote, 'rev-parse', held.branch!)).toBe(held.commit);
  expect(place.records.get('id-1')?.delivery).toMatchObject({ state: 'done', prState: 'open' });
});

test('W8 what checks and people leave in the workspace is not delivered, and kept', async () => {
  using place = new DeliveryPlace();
  const folder = await place.row(1);
  place.write('row-1/c.txt', 'c\n');
  await place.finishTask(1);
  writeFileSync(join(folder, 'c.txt'), 'changed by a check\n');
  writeFileSync(join(folder, 'left.txt'), 'left\n');
  const { commit = '' } = valuesOf(await place.deliver(1, 'branch'));
  expect(place.git('show', '--stat', '--format=', commit)).toMatch(/^c.txt \| 1 \+\n 1 file changed/);
  expect(place.read('row-1/c.txt')).toBe('c\n');
  const desk = place.deskOf(place.records.get('id-1')!);
  const left = place.gitIn(desk, 'for-each-ref', '--format=%(refname)', 'refs/nightshift/left');
  expect(place.gitIn(desk, 'show', `${left}:left.txt`)).toBe('left');
});

test('W11 no branch is written where a clone leads: an agent may have put another repository in its place', async () => {
  using place = new DeliveryPlace();
  const folder = await place.row(1, 'clone');
  place.write('row-1/new.txt', 'new\n');
  rmSync(join(folder, '.git'), { recursive: true });
  place.write('row-1/.git', `gitdir: ${place.repository}/.git\n`);
  const reason = `${folder}/.git leads out of its workspace: no branch is written there`;
  expect(await place.deliver(1, 'push')).toMatchObject({ kind: 'failed', reason });
  expect(place.git('branch', '--list', 'nightshift/*')).toBe('');
});
