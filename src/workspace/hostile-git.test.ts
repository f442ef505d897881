import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changed, opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import { Reading } from './reading.ts';

const { signal } = new AbortController();

/** Runs a script of an agent in a folder. */
function act(site: WorkspaceSite, folder: string, script: string): void {
  const who = { GIT_AUTHOR_NAME: 'x', GIT_AUTHOR_EMAIL: 'x', GIT_COMMITTER_NAME: 'x', GIT_COMMITTER_EMAIL: 'x' };
  const env = { ...process.env, ...who, PROJECT: site.project, ROOT: site.root };
  const ran = spawnSync('sh', ['-ec', script], { cwd: folder, env, encoding: 'utf8' });
  expect([ran.stderr, ran.status]).toEqual(['', 0]);
}

test('W4 W11 filters of a repository inside the workspace do not run', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const workspace = opened(await site.open().open(site.request()));
  act(
    site,
    workspace.top,
    `git init -q inner; cd inner; echo "* filter=evil" > .gitattributes; echo x > file
    git add -A; git commit -qm x; git config filter.evil.clean "touch $ROOT/evil; cat"; touch -d "1 hour ago" file`,
  );
  // The first time, git does not know the repository yet.
  for (const _ of [1, 2]) expect(await workspace.change(signal)).toMatchObject({ kind: 'failed' });
  const desk = join(site.root, 'engine', 'desks', site.request().item.id);
  await using reading = await Reading.open(site.git, { desk, repository: site.project }, signal);
  await reading.files(workspace.top, workspace.base);
  expect(existsSync(join(site.root, 'evil'))).toBe(false);
  // What moves there is still seen.
  act(site, workspace.top, 'rm -rf inner; echo > inner');
  expect(await changed(workspace)).toEqual(['added inner']);
});

const EXITS: [string, string][] = [
  ['a link among its refs', 'ln -s "$ROOT/outside" .git/refs/x; ln -s . .git/refs/loop'],
  ['another repository in its place', 'rm -rf .git; echo "gitdir: $PROJECT/.git" > .git'],
  ['a link to another repository in its place', 'rm -rf .git; ln -s "$PROJECT/.git" .git'],
  ['the common folder of another repository', 'echo "$PROJECT/.git" > .git/commondir'],
];

test.each(EXITS)('W11 a clone with %s gets a repository of its own again', async (_, script) => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  site.write('outside/yarn.lock', 'locked\n');
  const workspaces = site.open();
  const request = site.request({ kind: 'clone', repo: site.project });
  const workspace = opened(await workspaces.open(request));
  site.write('project/.git/index.lock', '');
  act(site, workspace.top, `echo > new; ${script}`);
  expect(await changed(workspace)).toEqual(['added new']);

  const judged = opened(await workspaces.open({ ...request, role: 'qa', isContinued: true }));
  expect(lstatSync(join(judged.top, '.git')).isDirectory()).toBe(true);
  expect(site.run(judged.top.slice(site.root.length + 1), 'rev-parse', '--git-common-dir')).toBe('.git');
  expect(existsSync(join(judged.top, 'new'))).toBe(true);
  const again = opened(await workspaces.open(request));
  expect(await changed(again)).toEqual([]);
  expect(readFileSync(join(site.root, 'outside', 'yarn.lock'), 'utf8')).toBe('locked\n');
  expect(existsSync(join(site.project, '.git', 'index.lock'))).toBe(true);
});

test('W6 W11 a file in place of a folder is a change; in place of `working-dir`, it is the reason of the row', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'src/b.txt': 'b\n' });
  const workspaces = site.open();
  const request = site.request({ workingDir: join(site.project, 'src') });
  const workspace = opened(await workspaces.open(request));
  rmSync(workspace.folder, { recursive: true });
  site.write(workspace.folder.slice(site.root.length + 1), '');
  expect(await changed(workspace)).toEqual(['added src', 'removed src/b.txt']);
  expect(await workspaces.open({ ...request, task: 'second' })).toMatchObject({
    kind: 'failed',
    reason: '`working-dir` src is not a folder in the workspace',
  });
});

test('S4 W11 a token in the address of a remote fails the row before anything is written, and is not told', async () => {
  const site = new WorkspaceSite();
  const repo = 'http://ada:token@127.0.0.1:9/x.git';
  const failed = await site.open().open(site.request({ kind: 'clone', repo }));
  expect(failed).toMatchObject({ kind: 'failed', reason: expect.stringContaining('has a login') });
  expect(JSON.stringify(failed)).not.toContain('token');
  expect([site.calls, existsSync(join(site.root, 'mirrors'))]).toEqual([[], false]);
});

test('W5 W11 included files are not written through a link that an earlier task left', async () => {
  const site = new WorkspaceSite();
  site.repository({ '.gitignore': '.env\n', 'conf/x.txt': 'x\n' });
  site.write('project/conf/.env', 'KEY=1\n');
  site.write('outside/y.txt', 'y\n');
  const workspaces = site.open();
  const request = site.request({ include: [{ path: 'conf/.env', isLink: false }] });
  const workspace = opened(await workspaces.open(request));
  const { top } = workspace;
  expect(existsSync(join(top, 'conf', '.env'))).toBe(true);
  act(site, top, 'rm -r conf; ln -s "$ROOT/outside" conf');
  expect(await changed(workspace)).toContain('added conf');
  rmSync(top, { recursive: true });
  opened(await workspaces.open({ ...request, task: 'second' }));
  expect(existsSync(join(site.root, 'outside', '.env'))).toBe(false);
});

test('W4 W11 what an agent does to the mirror of its clone changes nothing for others, now or in a later run', async () => {
  const site = new WorkspaceSite();
  const base = site.repository({ 'a.txt': 'a\n' });
  site.run('.', 'clone', '-q', '--bare', 'project', 'remote.git');
  const request = (row: number) =>
    site.request({ kind: 'clone', repo: join(site.root, 'remote.git'), item: { id: `row-${row}`, row } });
  const workspaces = site.open();
  const { top } = opened(await workspaces.open(request(1)));
  act(
    site,
    top,
    `mirror=$(dirname "$(cat .git/objects/info/alternates)"); echo evil > evil.txt; git add .; git commit -qm evil
    git push -q "$mirror" HEAD:refs/heads/main; cd "$mirror"; mkdir -p hooks info
    for hook in reference-transaction post-checkout pre-commit; do
      printf '#!/bin/sh\\ntouch "%s/evil"\\n' "$ROOT" > hooks/$hook; chmod +x hooks/$hook
    done
    echo "*.txt filter=evil" > info/attributes; echo "*.new" > info/exclude
    git config filter.evil.clean "touch $ROOT/evil; cat"; git config filter.evil.smudge "touch $ROOT/evil; cat"
    git config remote.origin.uploadpack "touch $ROOT/evil; git-upload-pack"; git config core.hooksPath hooks
    git config remote.origin.url "$PROJECT"; git config user.name Evil`,
  );
  spawnSync('rm', ['-f', join(site.root, 'evil')]);
  const tried = async (of: typeof workspaces, row: number) => {
    const workspace = opened(await of.open(request(row)));
    site.write(`${workspace.top.slice(site.root.length + 1)}/b.new`, 'new\n');
    expect([workspace.base, await changed(workspace)]).toEqual([base, ['added b.new']]);
  };
  await tried(workspaces, 2);
  site.now += 61_000;
  await tried(workspaces, 3);
  await tried(site.open(), 4);
  expect(existsSync(join(site.root, 'evil'))).toBe(false);
  // What is known of the file system stays.
  const [mirror] = readdirSync(join(site.root, 'mirrors'));
  expect(site.run(`mirrors/${mirror}`, 'config', 'core.filemode')).toBe('true');
});
