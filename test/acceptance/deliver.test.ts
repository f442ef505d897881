import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shellTask } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const WRITE = 'printf "%s\\n" {name} >> {name}.txt';

test('W8 W10 pull requests wait for approval, go out once, and their state is read again', async () => {
  const project = new RepositoryProject();
  const shift = project.rows(['one', 'two', 'three'], WRITE, { deliver: 'pr', 'deliver-when': 'approved' });
  const started = await project.command(['start', 'night', '--plain']);
  expect([started.code, shift.rows().map(({ work }) => work)]).toEqual([0, ['done', 'done', 'done']]);
  // `archive` would refuse it.
  const notSent = '3 results wait for approval: `nightshift deliver night` shows and sends them';
  const again = await project.command(['start', 'night', '--plain']);
  for (const { stdout } of [started, again]) {
    expect(stdout).toContain(notSent);
    expect(stdout).not.toContain('nightshift archive');
  }
  expect((await project.command(['archive', 'night'])).stderr).toContain('`nightshift deliver night` sends');
  expect(project.pullRequests).toEqual([]);
  expect(project.git('remote.git', 'branch', '--list', 'nightshift/*')).toBe('');
  expect(project.git('repository', 'log', '-1', '--format=%s', 'nightshift/night/one')).toBe('night: one');

  // A run that is active uses this copy.
  const copy = project.path(shift.folder, '.engine/sources/person.config');
  writeFileSync(copy, '# of the start of a run\n');
  const dry = await project.command(['deliver', 'night', '--dry-run']);
  expect(readFileSync(copy, 'utf8')).toBe('# of the start of a run\n');
  expect(dry.stdout.split('\n')[0]).toBe('row 1 one: pull request, nightshift/night/one (1 file, 1 line)');
  const refused = await project.command(['deliver', 'night']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  const declined = await project.command(['deliver', 'night'], ['n']);
  expect([declined.code, declined.stdout]).toEqual([4, expect.stringContaining('nothing was sent')]);
  expect(project.pullRequests).toEqual([]);

  const sent = await project.command(['deliver', 'night', '--rows', '1:2', '--yes', '--json']);
  expect(JSON.parse(sent.stdout).rows).toMatchObject([
    { row: 1, label: 'one', result: 'sent', values: { pr_url: 'https://forge.example/pull/1' } },
    { row: 2, result: 'sent' },
  ]);
  expect(project.pullRequests.map(({ title }) => title)).toEqual(['night: one', 'night: two']);
  expect(shift.rows()[1]).toMatchObject({ pr_url: 'https://forge.example/pull/2', pr_state: 'open', work: 'done' });
  expect(shift.rows()[2]).toMatchObject({ pr_url: '', branch: 'nightshift/night/three' });

  project.pullRequests = project.pullRequests.map((each, i) => ({ ...each, state: i === 0 ? 'MERGED' : 'OPEN' }));
  const synced = await project.command(['sync', 'night']);
  expect(synced.stdout).toBe(
    'row 1 one: open -> merged https://forge.example/pull/1\nrow 2 two: open https://forge.example/pull/2\n',
  );
  expect(shift.rows()[0]).toMatchObject({ pr_state: 'merged', work: 'done' });

  // A failure is told, recorded apart from the status, and the next try goes through.
  delete project.env.GH_TOKEN;
  const failed = await project.command(['deliver', 'night', '--yes']);
  expect([failed.code, failed.stdout]).toEqual([
    3,
    expect.stringMatching(/row 3 three: not delivered: .*gh auth login/),
  ]);
  expect(shift.rows().map(({ work }) => work)).toEqual(['done', 'done', 'done']);
  expect((await project.command(['deliver', 'night', '--dry-run'])).stdout).toContain('failed last time: ');
  project.env.GH_TOKEN = 'a-token';
  expect((await project.command(['deliver', 'night'], ['y'])).stdout).toContain('1 of 1 row delivered');
  expect((await project.command(['deliver', 'night', '--yes'])).stdout).toBe('nothing of night waits for approval\n');
  expect(project.pullRequests).toHaveLength(3);
  expect(project.git('repository', 'worktree', 'list').split('\n')).toHaveLength(1);
});

test('W8 rows are merged one on top of the other; those that conflict fail and name the commit', async () => {
  const project = new RepositoryProject();
  const step = 'case {name} in *-same) printf "%s\\n" {name} > a.txt;; *) printf x > {name}.txt;; esac';
  const names = ['one', 'first-same', 'two', 'second-same', 'three'];
  const shift = project.rows(names, step, { deliver: 'merge', parallel: true, 'current-batch-size': 5 });
  const before = project.git('repository', 'status', '--porcelain=v2', '--branch');
  const { code, stdout } = await project.command(['start', 'night', '--plain']);
  expect(code).toBe(3);
  const statuses = shift.rows().map(({ work }) => work);
  expect(statuses.filter((status) => status === 'done')).toHaveLength(4);
  const merged = project.git('repository', 'log', '--format=%s', 'main..nightshift/night/merged').split('\n');
  expect(merged.toSorted()).toEqual(
    names
      .filter((_, i) => statuses[i] === 'done')
      .map((name) => `night: ${name}`)
      .toSorted(),
  );
  expect(stdout).toMatch(/conflicts in a.txt with \w+ night: \w+-same \(nightshift\/night\/merged\)/);
  expect(project.git('repository', 'status', '--porcelain=v2', '--branch')).toBe(before);
  const left = names.filter((_, i) => statuses[i] === 'failed');
  const [folder = ''] = readdirSync(project.path('state/nightshift/workspaces'));
  expect(readdirSync(project.path('state/nightshift/workspaces', folder, 'night'))).toHaveLength(left.length);
});

test('W8 W10 a held merge runs the checks of all tasks again, on the merged files', async () => {
  const project = new RepositoryProject();
  const shift = project.shift('night', {
    settings: {
      ...{ agent: 'shell', 'working-dir': 'repository', workspace: 'worktree', attempts: 1 },
      ...{ deliver: 'merge', 'deliver-when': 'approved' },
    },
    table: 'name,work,read\none,todo,todo\ntwo,todo,todo\n',
    tasks: {
      work: shellTask('printf x > {name}.new', 'test "$(ls *.new)" = {name}.new && test -n "$NIGHTSHIFT_BRANCH"'),
      read: shellTask('true', 'true'),
    },
  });
  expect((await project.command(['start', 'night', '--plain'])).code).toBe(0);
  const sent = await project.command(['deliver', '--yes']);
  expect([sent.code, sent.stdout]).toEqual([3, expect.stringContaining('1 of 2 rows delivered')]);
  expect(sent.stdout).toMatch(/row 2 two: .*exit code 1/);
  expect(project.git('repository', 'log', '--format=%s', 'main..nightshift/night/merged')).toBe('night: one');
  expect(shift.rows().map(({ read }) => read)).toEqual(['done', 'done']);
});

test('W8 what would fail every delivery is an error at start, with its place', async () => {
  const project = new RepositoryProject();
  const shift = project.rows(['one'], WRITE, { deliver: 'merge', into: 'main' });
  const checkedOut = await project.command(['start', 'night', '--plain']);
  expect([checkedOut.code, checkedOut.stdout]).toEqual([2, '']);
  expect(checkedOut.stderr).toMatch(/`into: main` is checked out in \S+repository\b[\s\S]*manager\.md:\d+/);
  project.git('repository', 'remote', 'remove', 'origin');
  project.rows(['one'], WRITE, { deliver: 'push' });
  expect((await project.command(['start', 'night', '--plain'])).stderr).toContain('`deliver: push` needs a remote');
  project.rows(['one'], WRITE, { deliver: 'branch', 'working-dir': '.' });
  const outside = await project.command(['start', 'night', '--dry-run']);
  expect([outside.code, outside.stderr]).toEqual([2, expect.stringContaining('needs a git repository')]);
  expect(shift.rows().map(({ work }) => work)).toEqual(['todo']);
});

test.each(['delivery:committed', 'delivery:branched', 'delivery:merged', 'delivery:recorded'])(
  'W9 a run that is killed at %s merges each row once',
  async (point) => {
    const project = new RepositoryProject();
    const shift = project.rows(['one', 'two'], WRITE, { deliver: 'merge' });
    const killed = await project.spawn(['start', 'night', '--plain'], {
      env: { ...project.env, NIGHTSHIFT_CRASH_AT: `${point}#2` },
    }).ended;
    expect(killed.signal).toBe('SIGKILL');
    expect((await project.command(['start', 'night', '--plain'])).code).toBe(0);
    expect(shift.rows().map(({ work }) => work)).toEqual(['done', 'done']);
    expect(project.git('repository', 'log', '--format=%s', 'main..nightshift/night/merged')).toBe(
      'night: two\nnight: one',
    );
    expect(project.git('repository', 'show', 'nightshift/night/merged:two.txt')).toBe('two');
    expect(project.git('repository', 'worktree', 'list').split('\n')).toHaveLength(1);
  },
);
