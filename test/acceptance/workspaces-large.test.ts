import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NIGHTSHIFT } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const SEEN_AT = new Date('2020-01-01');

/** A file without blocks on disk. Whoever reads it moves its time of access on. */
function makeHuge(file: string): void {
  writeFileSync(file, '');
  truncateSync(file, 5 * 2 ** 30);
  utimesSync(file, SEEN_AT, new Date());
}

async function foldersOf(project: RepositoryProject): Promise<string[]> {
  const { stdout } = await project.command(['workspaces', 'night', '--json']);
  return JSON.parse(stdout).workspaces.map(({ folder }: { folder: string }) => folder);
}

test('S13 W7 files of 5 GB are named by workspaces, show and diff, and never read; prune keeps them', async () => {
  const project = new RepositoryProject();
  project.rows(['one', 'two'], 'echo more > {name}.txt');
  expect((await project.command(['start', 'night'])).code).toBe(0);
  const [first = '', second = ''] = await foldersOf(project);
  const huge = [join(first, 'huge'), join(first, 'a.txt'), join(second, 'huge')];
  for (const file of huge) makeHuge(file);
  const run = (...args: string[]) => project.command(args);

  const list = (await run('workspaces', 'night')).stdout;
  expect(list).toContain('row 1 one: kept: not delivered; 3 files changed, +1 -0, 2 too large to show; ');
  expect(list).toContain('row 2 two: kept: not delivered; 2 files changed, +1 -0, 1 too large to show; ');
  expect((await run('show', 'night', '1')).stdout).toContain('  change: 3 files changed, +1 -0, 2 too large to show\n');
  const said = 'warning: huge is too large to show\nwarning: a.txt is too large to show\n';
  const piped = await run('diff', 'night', '1');
  expect([piped.stderr, piped.stdout]).toEqual([said, expect.stringMatching(/^diff --git a\/one.txt b\/one.txt\n/)]);
  expect(piped.stdout).not.toMatch(/huge|a\.txt/);
  const terminal = await project.run(['diff', 'night', '1'], { env: project.env, onTerminal: true });
  expect([terminal.stderr, terminal.stdout]).toEqual([said, expect.stringContaining('+more')]);
  const { files } = JSON.parse((await run('diff', 'night', '1', '--json')).stdout);
  expect(files).toContainEqual({ path: 'a.txt', kind: 'changed', isTooLarge: true });
  const pruned = (await run('workspaces', 'prune')).stdout;
  expect(pruned).toContain('0 workspaces removed');
  expect(huge.map((file) => statSync(file).atime)).toEqual(huge.map(() => SEEN_AT));
});

test('S13 W7 a huge file that comes after the delivery keeps its workspace', async () => {
  const project = new RepositoryProject();
  project.rows(['one'], 'echo more > {name}.txt', {
    ...{ workspace: 'clone', repo: './remote.git', deliver: 'branch', 'working-dir': '.' },
  });
  expect((await project.command(['start', 'night'])).code).toBe(0);
  const [folder = ''] = await foldersOf(project);
  const dry = async () => (await project.command(['workspaces', 'prune', '--dry-run'])).stdout;
  expect(await dry()).toContain('kept: row 1 one (its branch is only here)');
  makeHuge(join(folder, 'huge'));
  expect(await dry()).toContain('kept: row 1 one (it was changed after it was delivered)');
});

test('S13 W7 a patch that is too large to show is complete in a pipe', async () => {
  const project = new RepositoryProject();
  project.rows(['one'], 'head -c 17000000 /dev/zero | tr "\\0" x > {name}.txt');
  expect((await project.command(['start', 'night'])).code).toBe(0);
  const [folder = ''] = await foldersOf(project);
  const said = 'warning: the patch is too large to show: write it to a file, or use --stat\n';
  const terminal = await project.run(['diff', 'night', '1'], { env: project.env, onTerminal: true });
  expect([terminal.code, terminal.stderr, terminal.stdout.trim()]).toEqual([0, said, '']);
  const json = await project.command(['diff', 'night', '1', '--json']);
  expect([json.stderr, Object.keys(JSON.parse(json.stdout))]).toEqual([said, ['shift', 'row', 'base', 'files']]);
  const env = { ...process.env, ...project.env };
  execFileSync('sh', ['-c', `node ${NIGHTSHIFT} diff night 1 > patch`], { cwd: project.root, env });
  project.git('repository', 'apply', project.path('patch'));
  expect(readFileSync(project.path('repository/one.txt')).equals(readFileSync(join(folder, 'one.txt')))).toBe(true);
  expect(existsSync(join(folder, 'a.txt'))).toBe(true);
});
