import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

const fetches = ({ calls }: WorkspaceSite) => calls.filter(({ args }) => args.includes('fetch')).length;

/** A row of its own. */
const row = (n: number) => ({ item: { id: `${n}aaaaaaaa.0`, row: n, label: `row ${n}` } });

test('W3 a base that a remote has is fetched once a minute, and no branch of the person moves', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'one\n' }, 'origin');
  rmSync(site.project, { recursive: true });
  site.run('.', 'clone', '-q', 'origin', 'project');
  const refs = () => site.run('project', 'for-each-ref', '--format=%(refname) %(objectname)');
  site.write('origin/a.txt', 'two\n');
  const news = site.commit('origin');
  site.run('origin', 'branch', 'release');
  const before = refs();
  const workspaces = site.open();
  const base = async (request: Parameters<WorkspaceSite['request']>[0]) => {
    const result = await workspaces.open(site.request(request));
    return result.kind === 'open' ? result.base : result;
  };
  // Without a base, the checkout decides, and nothing is fetched.
  expect(await base(row(1))).toBe(site.run('project', 'rev-parse', 'HEAD'));
  expect(fetches(site)).toBe(0);
  expect(await base({ ...row(2), base: 'main' })).toBe(news);
  expect(await base({ ...row(3), base: 'origin/main' })).toBe(news);
  expect(fetches(site)).toBe(1);
  expect(await base({ ...row(4), base: 'release' })).toBe(news);
  expect(await base({ ...row(5), base: news })).toBe(news);
  expect(await base({ ...row(6), base: 'missing' })).toEqual({
    kind: 'failed',
    reason: `\`base: missing\` names no branch, tag or commit of ${site.project}`,
    failurePoint: 'workspace',
  });
  expect(
    refs()
      .split('\n')
      .filter((line) => !line.includes('/nightshift/'))
      .join('\n'),
  ).toBe(before);

  // What the person committed on top of the remote's counts; a row that begins again follows the branch.
  site.now += 60_000;
  site.run('project', 'pull', '-q');
  site.write('project/b.txt', 'own\n');
  const own = site.commit();
  const again = opened(await workspaces.open(site.request({ ...row(2), base: 'main' })));
  expect(again.base).toBe(own);
  expect(existsSync(join(again.top, 'b.txt'))).toBe(true);
  expect(await changed(again)).toEqual([]);

  site.now += 60_000;
  renameSync(join(site.root, 'origin'), join(site.root, 'elsewhere'));
  expect(await base({ ...row(2), base: 'main' })).toMatchObject({ kind: 'trouble' });
  // Nothing is asked of the remote for a workspace that is begun.
  expect(opened(await workspaces.open(site.request({ ...row(2), base: 'main', role: 'qa' }))).base).toBe(own);
});

test('W3 rows that start together fetch their base once, and each begins with it', async () => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'a.txt': 'one\n' }, 'origin');
  site.run('origin', 'branch', 'release');
  rmSync(site.project, { recursive: true });
  site.run('.', 'clone', '-q', 'origin', 'project');
  const workspaces = site.open();
  const rows = Array.from({ length: 12 }, (_, n) => ({ ...row(n), base: n % 2 === 0 ? 'main' : 'release' }));
  const all = await Promise.all(rows.map((each) => workspaces.open(site.request(each))));
  expect(all.map((each) => opened(each).base)).toEqual(rows.map(() => base));
  expect(fetches(site)).toBe(2);
});

test('W1 W3 clones of one repository share a mirror that is fetched once', async () => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'src/a.txt': 'one\n' }, 'origin');
  site.write('project/.env.local', 'KEY=1\n');
  const workspaces = site.open();
  const request = (n: number) =>
    site.request({
      ...row(n),
      kind: 'clone',
      repo: `${site.root}/origin`,
      include: [{ path: '.env.local', isLink: false }],
    });
  const first = opened(await workspaces.open({ ...request(1), workingDir: join(site.project, 'src') }));
  expect(first).toMatchObject({ base, folder: join(first.top, 'src') });
  opened(await workspaces.open(request(2)));
  expect(fetches(site)).toBe(1);
  const inside = first.top.slice(site.root.length + 1);
  expect(site.run(inside, 'status', '--porcelain')).toBe('?? .env.local');
  expect(site.run(inside, 'config', 'remote.origin.url')).toBe(`${site.root}/origin`);
  expect(await changed(first)).toEqual([]);
  // An agent commits and breaks its repository. The next claim begins again, and the old one is kept.
  site.write(`${inside}/src/b.txt`, 'b\n');
  site.run(inside, 'add', 'src/b.txt');
  site.run(inside, 'commit', '-qm', 'by the agent');
  site.run(inside, 'config', 'core.fsmonitor', `touch ${site.root}/evil; false`);
  const again = opened(await site.open().open({ ...request(1), workingDir: join(site.project, 'src') }));
  expect(await changed(again)).toEqual([]);
  expect(site.run(inside, 'rev-parse', 'HEAD')).toBe(base);
  expect(site.run('.', '--git-dir=engine/desks/1aaaaaaaa.0/left/1.git', 'log', '-1', '--format=%s')).toBe(
    'by the agent',
  );
  expect(existsSync(join(site.root, 'evil'))).toBe(false);
  // Two processes may fetch at once, and so may other shifts: the mirror is locked.
  expect(await workspaces.open({ ...request(3), repo: 'ext::sh -c touch% /evil' })).toMatchObject({ kind: 'failed' });
  expect(await workspaces.open({ ...request(3), base: 'missing' })).toMatchObject({ kind: 'failed' });
  expect(await workspaces.open({ ...request(3), repo: './nowhere' })).toMatchObject({
    reason: '`repo: ./nowhere` does not exist',
  });
});

test('W2 a branch that is not ours is never taken; ours is found again', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'one\n' });
  site.run('project', 'branch', 'nightshift/upgrade/row-1');
  site.run('project', 'branch', 'by-hand/deeper');
  const workspaces = site.open();
  const branch = async (n: number, name?: string) => {
    const result = await workspaces.open(site.request({ ...row(n), ...(name === undefined ? {} : { branch: name }) }));
    return result.kind === 'open' ? result.branch : result;
  };
  expect(await branch(1)).toBe('nightshift/upgrade/row-1-2');
  expect(await branch(1)).toBe('nightshift/upgrade/row-1-2');
  expect(await branch(2, 'by-hand')).toBe('by-hand-2');
  expect(await branch(3, 'by-hand')).toBe('by-hand-3');
  expect(await branch(4, '../up')).toMatchObject({ kind: 'failed' });
  const inside = join(site.project, 'workspaces');
  expect(await workspaces.open(site.request({ ...row(5), folder: inside }))).toMatchObject({
    reason: `\`workspaces-dir\` must be outside of ${site.project}`,
  });
  const both = await Promise.all(
    [6, 7].map((n) => workspaces.open(site.request({ item: { ...row(n).item, label: 'x' } }))),
  );
  const [first, second] = both.map((each) => opened(each).branch).sort();
  expect([first, second]).toEqual([
    'nightshift/upgrade/x',
    expect.stringMatching(/^nightshift\/upgrade\/x-[67]aaaaa$/),
  ]);
});

test('W3 W8 without a base, rows begin with what the rows before have merged', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'one\n' });
  const workspaces = site.open();
  const base = async (request: Parameters<WorkspaceSite['request']>[0]) =>
    opened(await workspaces.open(site.request(request))).base;
  const into = 'nightshift/night/merged';
  expect(await base({ ...row(1), into })).toBe(site.run('project', 'rev-parse', 'HEAD'));
  site.run('project', 'switch', '-q', '-c', into);
  site.write('project/a.txt', 'two\n');
  const merged = site.commit();
  site.run('project', 'switch', '-q', 'main');
  expect(await base({ ...row(2), into })).toBe(merged);
  expect(await base({ ...row(3), into, base: 'main' })).toBe(site.run('project', 'rev-parse', 'main'));
  // A row that begins again, after a conflict, begins with it too.
  expect(await base({ ...row(1), into })).toBe(merged);
});
