import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openHeldDeliveries } from '../../src/app/delivery/deliver-held.ts';
import { shiftPaths } from '../../src/store/folder/layout.ts';
import { takeRunLock } from '../../src/store/folder/run-lock.ts';
import { isAlive, type ShiftHandle, until } from '../harness.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

const WRITE = 'cat "$NIGHTSHIFT_SHIFT_DIR/content" > {name}.txt';

/** A shift whose rows are done and wait for approval. */
async function waiting(...names: string[]): Promise<{ project: RepositoryProject; shift: ShiftHandle }> {
  const project = new RepositoryProject();
  const shift = project.rows(names, WRITE, { deliver: 'pr', 'deliver-when': 'approved' });
  project.write(`${shift.folder}/content`, 'first\n');
  expect((await project.command(['start', 'night'])).code).toBe(0);
  return { project, shift };
}

test('T6 W9 W10 while deliver sends, no run starts and no second one delivers; a row that is reset is not sent', async () => {
  const { project, shift } = await waiting('one', 'two');
  const [go, begun] = [project.path('go'), 'go.begun'];
  const sending = project.spawn(['deliver', 'night', '--yes'], { env: { ...project.env, FAKE_GH_WAIT: go } });
  await until(() => project.exists(begun), 'the first row to be sent');
  expect((await project.command(['table', 'night', 'reset', '--row', '2'])).code).toBe(0);
  for (const args of [
    ['deliver', '--yes'],
    ['start', 'night'],
    ['workspaces', 'prune'],
  ]) {
    const { code, stderr } = await project.command(args);
    expect([code, stderr]).toEqual([5, expect.stringContaining('night is in use by `nightshift deliver`, process ')]);
    expect(stderr).toContain(`process ${sending.pid} since`);
  }
  expect((await project.command(['stop', 'night'])).stdout).toContain('night is not running');
  expect(project.pullRequests).toEqual([]);
  project.write('go', '');
  const { code, stdout } = await sending.ended;
  expect([code, stdout]).toEqual([3, expect.stringContaining('row 2 two: not delivered: it is to be done again')]);
  expect(project.pullRequests.map(({ title }) => title)).toEqual(['night: one']);
  expect(shift.rows().map(({ work, pr_url }) => [work, pr_url])).toEqual([
    ['done', 'https://forge.example/pull/1'],
    ['todo', ''],
  ]);

  expect((await project.command(['start', 'night'])).code).toBe(0);
  expect((await project.command(['deliver', '--yes'])).stdout).toContain('1 of 1 row delivered');
  expect(project.pullRequests).toHaveLength(2);
});

test('T6 W9 W10 during a run, deliver sends nothing and names the run; what a killed one left is ended first', async () => {
  const { project, shift } = await waiting('one');
  const left = spawn('sleep', ['1000'], { env: { NIGHTSHIFT_SHIFT_DIR: project.path(shift.folder) } });
  onTestFinished(() => void left.kill('SIGKILL'));
  const paths = shiftPaths(project.root, 'night');
  const since = '2026-01-02T00:00:00.000Z';
  const running = await takeRunLock(paths, { pid: process.pid, since, run: '20260102T000000-aaaaaa' });
  const refused = await project.command(['deliver', '--yes']);
  expect([refused.code, refused.stderr]).toEqual([
    5,
    expect.stringContaining(`night is already being run by process ${process.pid} since`),
  ]);
  expect((await project.command(['deliver', '--dry-run'])).stdout).toContain('row 1 one: pull request');
  expect([project.pullRequests, isAlive(left.pid!)]).toEqual([[], true]);
  running[Symbol.dispose]();
  expect((await project.command(['deliver', '--yes'])).code).toBe(0);
  await until(() => !isAlive(left.pid!), 'the end of what was left');
  expect(project.pullRequests).toHaveLength(1);
});

test('W9 W10 only what you saw goes out: not a result that has another commit, or was delivered meanwhile', async () => {
  const { project, shift } = await waiting('one', 'two');
  const world = { cwd: project.root, env: { ...process.env, ...project.env }, now: Date.now };
  const paths = shiftPaths(project.root, 'night');
  const look = () => openHeldDeliveries(paths, { rows: [], signal: new AbortController().signal }, world);
  const send = async (held: Awaited<ReturnType<typeof look>>) =>
    (await held.send(() => {})).map((row) => (row.result === 'failed' ? row.reason : 'sent'));
  const [first, second] = [await look(), await look()];
  project.write(`${shift.folder}/content`, 'other\n');
  await project.command(['table', 'night', 'reset', '--row', '2']);
  await project.command(['start', 'night']);
  expect(await send(first)).toEqual(['sent', 'it was done again meanwhile, with another result']);
  expect(await send(second)).toEqual([
    'it was delivered meanwhile',
    'it was done again meanwhile, with another result',
  ]);
  expect(project.pullRequests.map(({ title }) => title)).toEqual(['night: one']);
  // A row that was not sent is as it was.
  expect((await project.command(['deliver', '--dry-run'])).stdout).toBe(
    'row 2 two: pull request, nightshift/night/two (1 file, 1 line)\n',
  );
});

test('W10 during a run, sync writes the state of a pull request to the table, not to the record of its row', async () => {
  const { project, shift } = await waiting('one');
  expect((await project.command(['deliver', '--yes'])).code).toBe(0);
  const [record = ''] = readdirSync(project.path(shift.folder, '.engine/workspaces'));
  const state = () => JSON.parse(project.read(`${shift.folder}/.engine/workspaces/${record}`)).delivery.prState;
  const sync = async (to: string) => {
    project.pullRequests = project.pullRequests.map((each) => ({ ...each, state: to }));
    expect((await project.command(['sync', 'night'])).code).toBe(0);
    return [shift.column('pr_state')[0], state()];
  };
  const holder = { pid: process.pid, since: '2026-01-02T00:00:00.000Z', run: 'r' };
  const running = await takeRunLock(shiftPaths(project.root, 'night'), holder);
  expect(await sync('CLOSED')).toEqual(['closed', 'open']);
  running[Symbol.dispose]();
  expect(await sync('MERGED')).toEqual(['merged', 'merged']);
});
