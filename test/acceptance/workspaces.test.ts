import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../../src/store/folder/layout.ts';
import { takeRunLock } from '../../src/store/folder/run-lock.ts';
import { NIGHTSHIFT, Project, type ShiftHandle, shellTask } from '../harness.ts';
import { Repository } from '../kit/real-git.ts';
import { makeWorkspace, recordFile } from '../kit/workspace-of-row.ts';

const STATUSES = ['done', 'done', 'done', 'failed', 'todo', 'done'];

/** A project that is a repository, with a shift of six rows: a.txt to f.txt. */
function night(env = '') {
  const project = new Project();
  const repository = new Repository(project.root, { 'a.txt': 'one\n', '.gitignore': '.nightshift/\n' });
  const rows = STATUSES.map((status, i) => `${'abcdef'[i]}.txt,${status}\n`);
  const tasks = { work: shellTask('true') };
  const shift = project.shift('night', { table: `file,work\n${rows.join('')}`, tasks, env });
  onTestFinished(() => rmSync(`${project.root}-workspaces`, { recursive: true, force: true }));
  return { project, repository, shift };
}

/** As after a delivery of what the workspace holds. */
async function makeDelivered(shift: ShiftHandle, repository: Repository, row: number, state = 'done') {
  const made = await makeWorkspace(shift, repository, row);
  made.write('a.txt', 'one\ntwo\n');
  execFileSync('git', ['commit', '-qam', `Nightshift ${row}`], { cwd: made.folder });
  const commit = repository.git('rev-parse', made.branch);
  const text = { message: '', title: '', body: '' };
  const delivery = { kind: 'pr', key: 'k', commit, state, at: made.madeAt, url: 'https://example.org/pr/1', text };
  writeFileSync(recordFile(shift, made.id), JSON.stringify({ ...made, delivery }));
  return { ...made, commit };
}

test('W7 workspaces lists all with state and change; prune removes only what holds nothing to lose', async () => {
  const { project, repository, shift } = night();
  const delivered = await makeDelivered(shift, repository, 1);
  const changed = await makeWorkspace(shift, repository, 2);
  changed.write('new.txt', 'x\ny\n');
  const squashed = await makeWorkspace(shift, repository, 3);
  squashed.write('c.txt', 'c\n');
  repository.commit('squashed', { 'c.txt': 'c\n' });
  repository.commit('later', { 'c.txt': 'other\n', 'd.txt': 'd\n' });
  const failed = await makeWorkspace(shift, repository, 4);
  const gone = await makeWorkspace(shift, repository, 5);
  rmSync(gone.folder, { recursive: true });
  const orphan = await makeWorkspace(shift, repository, 6);
  orphan.write('f.txt', 'f\n');
  await project.run(['table', 'night', 'remove', '--row', '6']);
  appendFileSync(project.path(shift.folder, '.engine/workspaces/torn.json'), '{');

  const list = await project.run(['workspaces', 'night']);
  const lines = list.stdout.replace(/; \d+ kB$/gm, '').split('\n');
  expect(lines.filter((line) => !line.startsWith(' '))).toEqual([
    'row 1 a.txt: delivered; 1 file changed, +1 -0',
    'row 2 b.txt: kept: not delivered; 1 file changed, +2 -0',
    'row 3 c.txt: kept: not delivered; 1 file changed, +1 -0',
    'row 4 d.txt: kept: its row failed; nothing changed',
    'row 5 e.txt: gone: removed by hand; nothing changed',
    'f-txt: kept: its row is gone; 1 file changed, +1 -0',
    expect.stringMatching(/^6 workspaces, \d+ kB: 4 kept, 1 delivered, 1 gone$/),
    '',
  ]);
  const at = lines.findIndex((line) => line.startsWith('row 2'));
  expect(lines.slice(at + 1, at + 3)).toEqual([
    `  folder: ${changed.folder}`,
    `  branch: ${changed.branch}, from ${changed.base!.slice(0, 7)}`,
  ]);
  expect(list.stderr).toMatch(/^warning: .*torn\.json is not the record of a workspace/);

  const prune = async (...args: string[]) => (await project.run(['workspaces', 'prune', ...args])).stdout;
  const expected = (verb: string) =>
    [
      `${verb}: row 1 a.txt (delivered)`,
      `kept: row 2 b.txt (its change is not delivered): ${changed.folder}`,
      `${verb}: row 3 c.txt (its change is in main)`,
      `${verb}: row 4 d.txt (nothing has changed)`,
      `${verb}: row 5 e.txt (nothing has changed)`,
      `kept: f-txt (its change is not delivered; its row is gone): ${orphan.folder}`,
    ].join('\n');
  const places = [delivered, changed, squashed, failed, orphan].map(({ folder }) => folder);
  expect(await prune('--dry-run')).toContain(expected('would be removed'));
  expect(places.map((folder) => existsSync(folder))).toEqual([true, true, true, true, true]);
  expect(await prune()).toContain(expected('removed'));
  expect(places.map((folder) => existsSync(folder))).toEqual([false, true, false, false, true]);
  // What was delivered is still known, and so is its branch.
  expect(repository.git('rev-parse', delivered.branch)).toBe(delivered.commit);
  expect(repository.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(3);
  expect((await project.run(['diff', 'night', '1'])).stdout).toContain('+two');
  expect((await project.run(['show', 'night', '1'])).stdout).toContain('workspace: delivered: its folder is removed\n');

  expect(await prune('--force-row', '2', '--force-row', 'f-txt')).toMatch(
    /removed: row 2 b\.txt \(forced; its change is not delivered\)\nremoved: f-txt .*\n2 workspaces removed/,
  );
  expect([changed, orphan].map(({ folder }) => existsSync(folder))).toEqual([false, false]);
  expect((await project.run(['workspaces'])).stdout).toBe('1 workspace delivered and removed\n');
  const wrong = await project.run(['workspaces', 'prune', '--force-row', '9']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('no workspace belongs to row "9"')]);
});

test('W7 prune keeps a workspace that was being made again from a result when the run was killed', async () => {
  const { project, repository, shift } = night();
  const made = await makeWorkspace(shift, repository, 2);
  made.write('new.txt', 'x\n');
  const record = JSON.parse(readFileSync(recordFile(shift, made.id), 'utf8'));
  const results = [{ task: 'work', commit: made.base, at: record.madeAt }];
  writeFileSync(recordFile(shift, made.id), JSON.stringify({ ...record, state: 'preparing', results }));
  expect((await project.run(['workspaces', 'prune', 'night'])).stdout).toContain('its change is not delivered');
  expect(JSON.parse(readFileSync(recordFile(shift, made.id), 'utf8')).results).toEqual(results);
});

test('W7 no run starts while prune looks at workspaces and removes them', async () => {
  const { project, repository, shift } = night();
  const made = await makeWorkspace(shift, repository, 2);
  const bin = mkdtempSync(join(tmpdir(), 'nightshift-bin-'));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  const { folder } = shiftPaths(project.root, 'night');
  const log = join(bin, 'log');
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  // A start would take the lock at each of these moments, if it could.
  const script = `flock -n ${folder} echo free >> ${log} || echo held >> ${log}; exec ${git} "$@"`;
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  await project.run(['workspaces', 'prune'], { env: { PATH: `${bin}:${process.env.PATH}` } });
  expect(existsSync(made.folder)).toBe(false);
  expect([...new Set(readFileSync(log, 'utf8').trim().split('\n'))]).toEqual(['held']);
});

test('W7 prune leaves a shift that runs alone, and only shows what it would do', async () => {
  const { project, repository, shift } = night();
  const held = await makeDelivered(shift, repository, 1, 'held');
  const working = await makeWorkspace(shift, repository, 5);
  working.write('e.txt', 'e\n');
  shift.tableText = shift.tableText.replace('e.txt,todo', 'e.txt,in_progress');
  const paths = shiftPaths(project.root, 'night');
  const running = await takeRunLock(paths, { pid: process.pid, since: '2026-01-02T00:00:00.000Z', run: 'r' });
  expect((await project.run(['workspaces', 'night'])).stdout).toMatch(
    /row 1 a\.txt: held for approval; .*\n(.*\n){2}row 5 e\.txt: working; 1 file changed/,
  );
  const dry = await project.run(['workspaces', 'prune', '--dry-run', '--force-row', '5']);
  expect(dry.stdout).toContain(`kept: row 5 e.txt (an agent works in it): ${working.folder}`);
  expect((await project.run(['workspaces', 'prune', '--force-row', '5'])).code).toBe(5);
  running[Symbol.dispose]();
  expect((await project.run(['workspaces', 'prune'])).stdout).toContain(
    `kept: row 1 a.txt (it waits for approval): ${held.folder}`,
  );
  expect([held, working].map(({ folder }) => existsSync(folder))).toEqual([true, true]);
  // Its commit is kept, so it can still be delivered, and is still listed.
  await project.run(['workspaces', 'prune', '--force-row', 'a.txt']);
  expect(existsSync(held.folder)).toBe(false);
  expect((await project.run(['workspaces'])).stdout).toContain(
    'row 1 a.txt: held for approval: its folder is removed; 1 file',
  );
});

test('W7 S4 S9 diff prints the change of a row: complete in a pipe, harmless on a terminal', async () => {
  const { project, repository, shift } = night('TOKEN=very-secret-token\n');
  const made = await makeWorkspace(shift, repository, 2);
  made.write('a.txt', 'o\u001b[2Jne very-secret-token\n');
  made.write('latin ü', Buffer.from([0x6d, 0xfc, 0x0a]));
  made.write('b.bin', Buffer.from([0, 1, 0xff]));
  const patch = execFileSync('node', [NIGHTSHIFT, 'diff', 'night', '2'], { cwd: project.root });
  execFileSync('git', ['apply', '--index', '-'], { cwd: repository.folder, input: patch });
  for (const file of ['a.txt', 'latin ü', 'b.bin']) {
    expect(readFileSync(join(repository.folder, file))).toEqual(readFileSync(join(made.folder, file)));
  }
  const shown = (await project.run(['diff', 'night', '2'], { onTerminal: true })).stdout;
  expect(shown).toContain('\u001b[32m+o\uFFFD[2Jne ');
  expect(shown).not.toContain('very-secret-token');
  expect((await project.run(['diff', 'night', '2', '--name-only'])).stdout).toBe('a.txt\nb.bin\nlatin ü\n');
  expect((await project.run(['diff', 'night', '2', '--stat'])).stdout).toMatch(/ 3 files changed, /);
  const json = JSON.parse((await project.run(['diff', 'night', '2', '--json'])).stdout);
  expect(json).toMatchObject({ shift: 'night', row: 2, base: made.base, files: [{ path: 'a.txt' }, {}, {}] });
  const none = await project.run(['diff', 'night', '3']);
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('row 3 has no workspace')]);
});

test('W7 show has the workspace of a row; archive refuses a shift that has some, unless told to leave them', async () => {
  const { project, repository, shift } = night();
  const made = await makeDelivered(shift, repository, 1);
  expect((await project.run(['show', 'night', '1'])).stdout).toContain(
    [
      'workspace: delivered',
      `  folder: ${made.folder}`,
      `  branch: ${made.branch}, from ${made.base!.slice(0, 7)}`,
      '  change: 1 file changed, +1 -0',
      `  delivery: pr, done, commit ${made.commit.slice(0, 7)}, https://example.org/pr/1`,
    ].join('\n'),
  );
  shift.tableText = shift.tableText.replace(/failed|todo/g, 'done');
  const refused = await project.run(['archive', 'night']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('night still has 1 workspace')]);
  expect((await project.run(['archive', 'night', '--force'])).code).toBe(0);
  expect(existsSync(made.folder)).toBe(true);
  await project.run(['unarchive', 'night']);
  expect((await project.run(['workspaces', 'night'])).stdout).toContain('row 1 a.txt: delivered');
});

test('W7 a run keeps what is not delivered; diff, show and doctor know it, also when its folder is gone', async () => {
  const project = new Project();
  new Repository(project.root, { 'a.txt': 'one\n', '.gitignore': '.nightshift/\n' });
  const place = `${project.root}-workspaces`;
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const settings = { agent: 'shell', workspace: 'worktree', 'workspaces-dir': place };
  const table = 'file,work\na.txt,todo\nb.txt,todo\n';
  const kept = project.shift('kept', { settings, table, tasks: { work: shellTask('echo two >> {file}') } });
  const sent = project.shift('sent', {
    settings: { ...settings, deliver: 'branch' },
    table,
    tasks: { work: shellTask('echo two >> {file}') },
  });
  for (const shift of [kept, sent]) expect((await shift.start()).code).toBe(0);
  const run = async (...args: string[]) => (await project.run(args)).stdout;

  const [first = '', second = ''] = JSON.parse(await run('workspaces', 'kept', '--json')).workspaces.map(
    ({ folder }: { folder: string }) => folder,
  );
  expect(await run('workspaces', 'kept')).toMatch(
    /^row 1 a\.txt: kept: not delivered; 1 file changed, \+1 -0; (.*\n){3}row 2 b\.txt: kept: not delivered; /,
  );
  expect(await run('diff', 'kept', '1')).toContain('\n one\n+two\n');
  rmSync(second, { recursive: true });
  mkdirSync(join(first, '..', 'stray'));
  expect(await run('diff', 'kept', 'b.txt')).toContain('\n+two\n');
  const prune = await run('workspaces', 'kept', 'prune');
  expect(prune).toContain(`row 2 b.txt (its change is not delivered, and its folder is gone): ${second}`);
  expect(prune).toContain('0 workspaces removed');
  const doctor = await run('doctor');
  expect(doctor).toContain(`1 workspace without a folder: removed by hand`);
  expect(doctor).toContain(join(first, '..', 'stray'));

  expect(await run('workspaces', 'sent')).toBe('2 workspaces delivered and removed\n');
  expect(await run('show', 'sent', '2')).toMatch(
    /workspace: delivered: its folder is removed\n(.*\n)* {2}delivery: branch, done/,
  );
  expect(await run('diff', 'sent', '2', '--name-only')).toBe('b.txt\n');
  // Without its record, the commit is found by its key.
  rmSync(project.path(sent.folder, '.engine/workspaces'), { recursive: true });
  expect(await run('diff', 'sent', '2', '--name-only')).toBe('b.txt\n');
});

test('W7 doctor says what workspaces need: a repository, a folder outside of it, a branch that is free', async () => {
  const project = new Project();
  const settings = {
    agent: 'shell',
    workspace: 'worktree',
    deliver: 'merge',
    into: 'main',
    'workspaces-dir': 'inside',
  };
  project.shift('night', { settings, table: 'file,work\na,todo\n', tasks: { work: shellTask('touch {file}') } });
  const doctor = async () => (await project.run(['doctor'])).stdout;
  expect(await doctor()).toContain(`\`workspace: worktree\` needs a git repository, and ${project.root} is not in one`);
  new Repository(project.root);
  const said = await doctor();
  expect(said).toContain(`workspaces would be inside of ${project.root}`);
  expect(said).toContain(`\`into: main\` is checked out in ${project.root}`);
});
