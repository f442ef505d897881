import { expect, test } from 'vitest';
import { Project, type ShiftHandle, shellTask } from '../harness.ts';
import { Forge } from '../kit/forge.ts';
import { Repository } from '../kit/real-git.ts';

const HOST = 'gitlab.example.org';
const OUTPUTS = '- outputs: branch, pr_url, pr_state';
type Settings = Record<string, string | number | boolean>;

/** A shift with a row for each name, which writes `content` of the project to a file. */
function shiftOf(project: Project, names: readonly string[], settings: Settings): ShiftHandle {
  project.write('content', 'first\n');
  return project.shift('night', {
    settings: { agent: 'shell', attempts: 1, deliver: 'pr', ...settings },
    table: `name,work\n${names.map((name) => `${name},todo\n`).join('')}`,
    tasks: { work: shellTask(`cp ${project.path('content')} {name}.txt`, 'true', OUTPUTS) },
  });
}

function clones(names: readonly string[], settings: Settings = {}) {
  const forge = new Forge(HOST);
  for (const name of names) forge.create(`team/tools/${name}`, { 'a.txt': 'a\n' });
  const project = new Project();
  const repo = `https://${HOST}/team/tools/{name}.git`;
  return { forge, project, shift: shiftOf(project, names, { workspace: 'clone', repo, ...settings }) };
}

const url = (name: string, number = 1) => `https://${HOST}/team/tools/${name}/-/merge_requests/${number}`;

test('W8 W9 W10 merge requests: opened once, found again after a kill, updated by a retry, and read again', async () => {
  const { forge, project, shift } = clones(['one', 'two'], { 'pr-title': 'Upgrade {name}', 'pr-body': '-' });
  forge.git('team/tools/two', 'branch', '-m', 'main', 'trunk');
  const killed = await project.spawn(['start', 'night', '--plain'], {
    env: { ...forge.env, NIGHTSHIFT_CRASH_AT: 'delivery:opened#1' },
  }).ended;
  expect([killed.signal, forge.merges.length]).toEqual(['SIGKILL', 1]);
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  expect(forge.merges).toMatchObject([
    { path: 'team/tools/one', iid: 1, title: 'Upgrade one', body: '-\n', target_branch: 'main' },
    { path: 'team/tools/two', iid: 1, title: 'Upgrade two', body: '-\n', target_branch: 'trunk' },
  ]);
  expect(shift.rows()).toMatchObject([
    { work: 'done', branch: 'nightshift/night/one', pr_url: url('one'), pr_state: 'open' },
    { work: 'done', branch: 'nightshift/night/two', pr_url: url('two'), pr_state: 'open' },
  ]);

  project.write('content', 'second\n');
  await project.run(['table', 'night', 'reset', '--row', '1']);
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  expect(forge.merges).toHaveLength(2);
  expect(forge.git('team/tools/one', 'show', 'nightshift/night/one:one.txt')).toBe('second');

  const sync = async (...states: string[]) => {
    forge.merges = forge.merges.map((each, i) => ({ ...each, state: states[i]! }));
    const { stdout } = await project.run(['sync', 'night'], { env: forge.env });
    return [stdout, shift.column('pr_state')];
  };
  expect(await sync('locked', 'merged')).toEqual([
    `row 1 one: open ${url('one')}\nrow 2 two: open -> merged ${url('two')}\n`,
    ['open', 'merged'],
  ]);
  expect((await sync('closed', 'merged'))[1]).toEqual(['closed', 'merged']);
});

test('W8 W9 only a merge request of the repository itself is found; a login that is missing is not the fault of a row', async () => {
  const { forge, project, shift } = clones(['one'], { into: 'next' });
  forge.git('team/tools/one', 'branch', 'next');
  // Of a fork, with a branch of the same name.
  const strange = { path: 'team/tools/one', iid: 1, web_url: url('one'), state: 'opened', sha: 'x', title: 'strange' };
  const branches = { source_branch: 'nightshift/night/one', target_branch: 'main', target_project_id: 7 };
  forge.merges = [{ ...strange, ...branches, body: '', source_project_id: 8 }];
  const anonymous = { ...forge.env, GITLAB_TOKEN: '' };
  const { code, stdout } = await project.run(['start', 'night', '--plain'], { env: anonymous });
  expect([code, shift.column('work')]).toEqual([6, ['qa']]);
  expect(stdout).toMatch(/401 Unauthorized[\s\S]*log in/);
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  expect(forge.merges[1]).toMatchObject({ iid: 2, target_branch: 'next', title: 'night: one' });
  expect(shift.rows()).toMatchObject([{ work: 'done', pr_url: url('one', 2) }]);
});

test('W8 a worktree whose remote is on GitLab: its merge request is opened over SSH, into the default branch', async () => {
  const forge = new Forge(HOST);
  forge.create('team/app', { 'a.txt': 'a\n' });
  forge.git('team/app', 'branch', '-m', 'main', 'trunk');
  const project = new Project();
  const repository = new Repository(project.path('app'), { 'a.txt': 'a\n' });
  repository.git('remote', 'add', 'origin', `git@${HOST}:team/app.git`);
  const shift = shiftOf(project, ['one'], { workspace: 'worktree', 'working-dir': 'app' });
  // `gh` can't do it.
  project.write('bin/gh', '#!/bin/sh\nexit 1\n');
  const PATH = `${project.path('bin')}:/usr/bin:/bin`;
  const refused = await project.run(['start', 'night'], { env: { ...forge.env, PATH } });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining(`needs glab for git@${HOST}:team/app.git, and it is not on PATH`),
  ]);
  const { code } = await shift.start([], { env: forge.env });
  expect([code, shift.column('work')]).toEqual([0, ['done']]);
  expect(forge.merges).toMatchObject([
    { path: 'team/app', source_branch: 'nightshift/night/one', target_branch: 'trunk' },
  ]);
});
