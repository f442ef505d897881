import { existsSync, readFileSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shellTask } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const WRITE = 'printf "%s\\n" {name} >> {name}.txt';

test('W8 W10 the first lines, --dry-run and `status` say where results go; `status` and `list` what waits', async () => {
  const project = new RepositoryProject();
  const shift = project.rows(['one', 'two'], WRITE, { deliver: 'push', 'deliver-when': 'approved' });
  const repository = project.path('repository');
  const results =
    `results: a branch nightshift/night/<row> for each row, pushed to the remote of ${repository}, ` +
    'once you approve them with `nightshift deliver night`\n';
  expect((await project.command(['start', 'night', '--dry-run'])).stdout).toContain(results);
  const { events, code } = await shift.start([], { env: project.env });
  expect(code).toBe(0);
  const place = { workspace: 'worktree', deliver: 'push', branch: 'nightshift/night/<row>', repository };
  expect(events.find(({ type }) => type === 'run:started')).toMatchObject({ results: { ...place, when: 'approved' } });

  const waits = '2 results wait for approval: `nightshift deliver night` shows and sends them';
  const status = await project.command(['status', 'night']);
  expect(status.stdout).toContain(`${results}${waits}\n`);
  expect((await project.command(['list'])).stdout).toBe(`night  2/2 completed, 0 failed\n  ${waits}\n`);
  expect((await project.command([])).stdout).toContain('nightshift deliver night  shows and sends what waits');
  expect((await project.command(['report', 'night', '--md'])).stdout).toContain('- 2 results wait for your approval.');

  await project.command(['deliver', 'night', '--row', '1', '--yes']);
  const json = async (...args: string[]) => JSON.parse((await project.command([...args, '--json'])).stdout);
  expect(await json('status', 'night')).toMatchObject({ results: place, workspaces: { held: 1, kept: 0 } });
  expect((await project.command(['list'])).stdout).toContain('1 result waits for approval: `nightshift deliver night`');
  // What can't be sent still waits.
  rmSync(project.path('remote.git'), { recursive: true });
  expect((await project.command(['deliver', 'night', '--yes'])).code).toBe(3);
  expect(await json('list')).toMatchObject({ shifts: [{ name: 'night', workspaces: { held: 1, kept: 0 } }] });
});

test('W7 `status` and `list` name kept workspaces, and nothing suggests an `archive` that would refuse', async () => {
  const project = new RepositoryProject();
  const shift = project.rows(['one', 'two'], WRITE, {
    ...{ deliver: 'branch', workspace: 'clone', repo: './remote.git', 'working-dir': '.' },
  });
  const started = await project.command(['start', 'night', '--plain']);
  expect([started.code, shift.column('work')]).toEqual([0, ['done', 'done']]);
  // The branch of a clone is in the clone and nowhere else.
  const kept = '2 workspaces kept: `nightshift workspaces night` lists them';
  const overview = await project.command([]);
  for (const { stdout } of [started, await project.command(['status']), await project.command(['list']), overview]) {
    expect(stdout).toContain(kept);
    expect(stdout).not.toContain('nightshift archive');
  }
  expect(overview.stdout).toContain('nightshift workspaces night  lists its workspaces');
  expect((await project.command(['workspaces', 'prune', 'night'])).stdout).toContain('(its branch is only here)');
  await project.command(['workspaces', 'prune', 'night', '--force-row', '1', '--force-row', '2']);
  expect((await project.command([])).stdout).toContain('nightshift archive night  archives it');
  expect((await project.command(['status'])).stdout).not.toContain('kept');
});

test('W3 a warning names what is not committed, once for a run; what Nightshift changes itself does not count', async () => {
  const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.bin': 'c\n', '.gitattributes': '*.bin filter=spy\n' };
  const project = new RepositoryProject(files);
  project.rows(['one', 'two', 'three'], WRITE, { deliver: 'branch' });
  const lines = async (...args: string[]) => {
    const { stdout, stderr } = await project.command(['start', 'night', ...args]);
    return `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line.includes('not committed') || line.includes('no commit'));
  };
  project.write('repository/new.txt', 'new\n');
  project.write('repository/.nightshift/old/table.csv', 'name\n');
  project.git('repository', 'add', '-f', '.nightshift/old/table.csv');
  expect(await lines('--dry-run')).toEqual([]);
  project.write('repository/a.txt', 'other\n');
  // Of the same size, so that git has to read it.
  project.write('repository/c.bin', 'x\n');
  project.git('repository', 'rm', '-q', '--cached', 'b.txt');
  // An agent of an earlier run may have named a program for filters: it does not run.
  project.git('repository', 'config', 'filter.spy.clean', `touch ${project.path('spied')}; cat`);
  project.git('repository', 'config', 'filter.spy.required', 'true');
  const warning =
    `warning: worktrees don't have what is not committed in ${project.path('repository')} ` +
    '(3 files: a.txt, b.txt, c.bin); commit it if rows need it';
  expect(await lines('--dry-run')).toEqual([warning]);
  expect(existsSync(project.path('spied'))).toBe(false);
  const before = project.git('repository', 'status', '--porcelain');
  project.git('repository', 'config', '--remove-section', 'filter.spy');
  expect(await lines('--plain')).toEqual([warning]);
  expect(project.git('repository', 'status', '--porcelain')).toBe(before);
});

test('W3 a repository without a commit gives empty worktrees, and a warning says so', async () => {
  const project = new RepositoryProject();
  rmSync(project.path('repository/.git'), { recursive: true });
  project.git('repository', 'init', '-q');
  project.rows(['one'], WRITE);
  expect((await project.command(['start', 'night', '--dry-run'])).stderr).toBe(
    `warning: ${project.path('repository')} has no commit yet, so the worktrees of rows are empty: commit your files\n`,
  );
});

test('W5 `include` that finds nothing is told once for a run, not for each row', async () => {
  const project = new RepositoryProject();
  project.rows(['one', 'two', 'three'], WRITE, { deliver: 'branch', include: '.env.local, link:node_modules' });
  const { stdout } = await project.command(['start', 'night', '--plain']);
  expect(stdout.match(/^warning: .*$/gm)).toEqual([
    `warning: \`include: .env.local\` names nothing that is in ${project.path('repository')}`,
    `warning: \`include: node_modules\` names nothing that is in ${project.path('repository')}`,
  ]);
});

test('W1 a test of a later task starts with what the earlier tasks left, and says so', async () => {
  const project = new RepositoryProject();
  const shift = project.shift('night', {
    settings: { agent: 'shell', 'working-dir': 'repository', workspace: 'worktree', deliver: 'branch', attempts: 1 },
    table: 'name,first,second\none,todo,todo\ntwo,todo,todo\n',
    tasks: {
      first: shellTask('echo $$ > first.txt', 'test -s first.txt'),
      second: shellTask('cp first.txt second.txt', 'cmp first.txt second.txt'),
    },
  });
  const before = shift.tableText;
  const tried = (task: string, row: number) => project.command(['test-task', 'night', task, '--row', String(row)]);
  const without = await tried('second', 1);
  expect([without.code, without.stderr]).toEqual([
    3,
    'warning: row 1 has no result of first yet, so this test starts without it; ' +
      '`nightshift test-task night first --row 1` makes one for tests\n',
  ]);
  // The result of an earlier test will do.
  expect((await tried('first', 1)).code).toBe(0);
  const after = await tried('second', 1);
  expect([after.code, after.stderr]).toEqual([0, '']);
  expect(after.stdout).toContain('It started with the result of first.');
  expect(shift.tableText).toBe(before);

  // The row's own result counts for more, also when its workspace is gone.
  expect((await project.command(['start', 'night', '--plain'])).code).toBe(0);
  for (const [row, name] of ['one', 'two'].entries()) {
    const again = await tried('second', row + 1);
    expect([again.code, again.stderr]).toEqual([0, '']);
    const [, folder] = /It started with the result of first\.\n.* is in (\/.*)\.\n/.exec(again.stdout)!;
    const result = project.git('repository', 'show', `nightshift/night/${name}:first.txt`);
    expect(readFileSync(`${folder}/second.txt`, 'utf8').trim()).toBe(result);
  }
  expect((await project.command(['workspaces', 'prune', 'night'])).stdout).toContain(
    'removed: test-one (left by `test-task`)\n',
  );
});
