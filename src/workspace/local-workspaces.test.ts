import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';

test('W1 W2 W3 a row gets a working tree of its own, and the main checkout stays as it is', async () => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'src/a.ts': 'one\n', '.gitignore': 'cache/\n' });
  site.write('project/src/a.ts', 'uncommitted\n');
  site.write('project/staged.txt', 'staged\n');
  site.run('project', 'add', 'staged.txt');
  const before = [site.run('project', 'status', '--porcelain'), readFileSync(join(site.project, '.git/index'))];

  const workspace = opened(await site.open().open(site.request({ workingDir: join(site.project, 'src') })));
  expect(workspace.top).toMatch(/\/workspaces\/project-[0-9a-f]{6}\/upgrade\/3-gro-e-ts$/);
  expect(workspace).toMatchObject({ branch: 'nightshift/upgrade/gro-e-ts', base, folder: join(workspace.top, 'src') });
  expect(workspace.environment).toEqual({
    NIGHTSHIFT_WORKSPACE: workspace.top,
    NIGHTSHIFT_BRANCH: workspace.branch,
    NIGHTSHIFT_BASE: base,
    NIGHTSHIFT_PORT: expect.stringMatching(/^2\d{4}$/),
  });
  const inside = workspace.top.slice(site.root.length + 1);
  expect(readFileSync(join(workspace.folder, 'a.ts'), 'utf8')).toBe('one\n');
  expect(site.run(inside, 'status', '--porcelain')).toBe('');
  expect(site.run(inside, 'rev-parse', '--abbrev-ref', 'HEAD')).toBe(workspace.branch);
  expect(await changed(workspace)).toEqual([]);
  site.write(`${inside}/src/b.ts`, 'new\n');
  expect(await changed(workspace)).toEqual(['added src/b.ts']);
  const after = [site.run('project', 'status', '--porcelain'), readFileSync(join(site.project, '.git/index'))];
  expect(after).toEqual(before);
});

test('W7 a claim starts where the task before ended; what an interrupted one left is kept', async () => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'a.txt': 'a\n', '.gitignore': 'cache/\n' });
  const first = opened(await site.open().open(site.request()));
  const inside = first.top.slice(site.root.length + 1);
  site.write(`${inside}/half.txt`, 'half done\n');
  site.write(`${inside}/cache/big`, 'big\n');
  site.run(inside, 'add', 'half.txt');
  site.run(inside, 'commit', '-qm', 'by the agent');
  rmSync(join(first.top, 'a.txt'));

  // The process ends. The next one claims the row again.
  const again = opened(await site.open().open(site.request()));
  expect(again.top).toBe(first.top);
  expect(site.run(inside, 'status', '--porcelain')).toBe('');
  expect(site.run(inside, 'rev-parse', 'HEAD', again.branch)).toBe(`${base}\n${base}`);
  expect(existsSync(join(again.top, 'half.txt'))).toBe(false);
  expect(existsSync(join(again.top, 'cache/big'))).toBe(true);
  const desk = '--git-dir=engine/desks/3f9a2c77e0.0';
  expect(site.run('.', desk, 'show', 'refs/nightshift/left/1:half.txt')).toBe('half done');

  site.write(`${inside}/a.txt`, 'by first\n');
  expect(await changed(again)).toEqual(['changed a.txt']);
  // A qa and a dev that goes on see the result, also if something touched it since.
  site.write(`${inside}/a.txt`, 'by a qa\n');
  const qa = opened(await site.open().open(site.request({ role: 'qa' })));
  expect(readFileSync(join(qa.top, 'a.txt'), 'utf8')).toBe('by first\n');
  expect(qa.isJudged).toBe(false);

  const second = opened(await site.open().open(site.request({ task: 'second' })));
  site.write(`${inside}/b.txt`, 'by second\n');
  expect(await changed(second)).toEqual(['added b.txt']);
  // Somebody removes the folder: it is restored.
  rmSync(first.top, { recursive: true });
  const judged = opened(await site.open().open(site.request({ task: 'second', role: 'qa' })));
  expect(await changed(judged)).toEqual(['added b.txt']);
  expect(readFileSync(join(judged.top, 'a.txt'), 'utf8')).toBe('by first\n');
  // The first task is done again: from the base.
  const retried = opened(await site.open().open(site.request()));
  expect(await changed(retried)).toEqual([]);
  expect(site.run('.', desk, 'show', 'refs/nightshift/left/3:b.txt')).toBe('by second');
});

test('W5 a fresh workspace gets its files and is set up once', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n', '.gitignore': 'node_modules/\n' });
  site.write('project/node_modules/x/index.js', 'x\n');
  site.write('project/.env.local', 'KEY=1\n');
  const seen: string[] = [];
  const request = (isWorking: boolean) =>
    site.request({
      include: [
        { path: '.env.*', isLink: false },
        { path: 'node_modules', isLink: true },
        { path: 'missing', isLink: false },
      ],
      setUp: async ({ folder, environment }) => {
        seen.push(environment.NIGHTSHIFT_PORT!);
        site.write(`${folder.slice(site.root.length + 1)}/generated.txt`, `${isWorking}\n`);
        return isWorking ? undefined : { kind: 'failed', reason: 'exit code 1', failurePoint: 'setup' };
      },
    });
  const workspaces = site.open();
  expect(await workspaces.open(request(false))).toMatchObject({ kind: 'failed', failurePoint: 'setup' });
  expect((await site.records.all())[0]!.state).toBe('preparing');
  const { top } = opened(await workspaces.open(request(true)));
  expect(readFileSync(join(top, '.env.local'), 'utf8')).toBe('KEY=1\n');
  expect(lstatSync(join(top, '.env.local')).isSymbolicLink()).toBe(false);
  expect(readlinkSync(join(top, 'node_modules'))).toBe(join(site.project, 'node_modules'));
  const again = opened(await workspaces.open(request(true)));
  expect(seen).toEqual([seen[0], seen[0]]);
  // Neither what was included nor what `setup` made is the agent's change.
  expect(await changed(again)).toEqual([]);
  expect(readFileSync(join(top, 'generated.txt'), 'utf8')).toBe('true\n');
  expect(site.warnings).toEqual([`\`include: missing\` names nothing that is in ${site.project}`]);
});
