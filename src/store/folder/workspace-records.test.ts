import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { WorkspaceRecord } from '../../workspace/records.ts';
import { shiftPaths } from './layout.ts';
import { FolderWorkspaceRecords } from './workspace-records.ts';

function record(id: string, row: number): WorkspaceRecord {
  const folder = `/state/workspaces/app-3f9a2c/night/${row}-src-a`;
  const branch = 'nightshift/night/src-a';
  const made = { state: 'ready', madeAt: '2026-01-01T00:00:00.000Z' } as const;
  return { id, row, slug: 'src-a', kind: 'worktree', folder, from: '/app', branch, base: 'c0ffee', ...made };
}

function open() {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const paths = shiftPaths(root, 'night');
  mkdirSync(paths.engine, { recursive: true });
  const said: string[] = [];
  return { root, paths, said, records: new FolderWorkspaceRecords(paths, (message) => said.push(message)) };
}

test('W7 records are found again by item, in row order, until they are removed', async () => {
  const { records, paths, said } = open();
  expect(await records.all()).toEqual([]);
  expect(await records.read('aa.0')).toBeUndefined();
  await records.remove('aa.0');
  const text = { message: 'm', title: 't', body: 'b' };
  const at = '2026-01-01T00:00:00.000Z';
  const delivered = { kind: 'branch', key: 'k', commit: 'c0ffee', state: 'done', at, text } as const;
  const later = { ...record('aa.0', 12), base: undefined, inLaterVersions: ['kept'] };
  for (const each of [later, record('bb.0', 2), record('bb.1', 3)]) await records.write(each);
  await records.write({ ...record('bb.0', 2), delivery: delivered });
  const again = new FolderWorkspaceRecords(paths);
  expect((await again.all()).map(({ id }) => id)).toEqual(['bb.0', 'bb.1', 'aa.0']);
  expect(await again.read('bb.0')).toEqual({ ...record('bb.0', 2), delivery: delivered });
  expect(await again.read('aa.0')).toEqual(later);
  await records.remove('bb.0');
  expect(await again.read('bb.0')).toBeUndefined();
  expect(await again.all()).toHaveLength(2);
  expect(said).toEqual([]);
});

test('W7 a file that is torn or not a record is skipped with a sentence', async () => {
  const { records, paths, said } = open();
  await records.write(record('aa.0', 1));
  const whole = readFileSync(paths.workspaceRecord('aa.0'), 'utf8');
  const foreign: Record<string, string> = {
    'torn.json': whole.slice(0, 40),
    'list.json': '[]',
    'null.json': 'null',
    // The record of another item: its name would give it to the wrong row.
    'bb_0.json': whole,
    'cc_0.json': whole.replace('aa.0', 'cc.0').replace('"/state', '"state'),
    'dd_0.json': whole.replace('aa.0', 'dd.0').replace('worktree', 'shared'),
    'gg_0.json': whole.replace('aa.0', 'gg.0').replace('"row"', '"delivery": {}, "row"'),
    'ee_0.json': whole.replace('aa.0', 'ee.0').replace('"row": 1', '"row": "1"'),
  };
  for (const [name, text] of Object.entries(foreign)) writeFileSync(join(paths.workspaces, name), text);
  mkdirSync(join(paths.workspaces, 'folder'));
  execFileSync('mkfifo', [join(paths.workspaces, 'pipe.json')]);
  symlinkSync(paths.workspaceRecord('aa.0'), join(paths.workspaces, 'ff_0.json'));
  // A process that was killed while it wrote.
  writeFileSync(join(paths.workspaces, '.aa_0.json.1-0.nightshift-tmp'), 'x');
  expect(await records.all()).toEqual([record('aa.0', 1)]);
  const names = [...Object.keys(foreign), 'folder', 'pipe.json', 'ff_0.json'];
  const sentence = (name: string) =>
    `${join(paths.workspaces, name)} is not the record of a workspace, or damaged; it is ignored`;
  expect(said.sort()).toEqual(names.map(sentence).sort());
  expect(await records.read('ff.0')).toBeUndefined();
});

test('W7 a link in the place of the records is not read, and nothing is written through it', async () => {
  const { records, paths, said, root } = open();
  await records.write(record('aa.0', 1));
  const elsewhere = join(root, 'elsewhere');
  renameSync(paths.workspaces, elsewhere);
  symlinkSync(elsewhere, paths.workspaces);
  expect(await records.all()).toEqual([]);
  expect(await records.read('aa.0')).toBeUndefined();
  expect(said[0]).toBe(`${paths.workspaces} is a link, or not a folder; its records are ignored`);
  await records.remove('aa.0');
  await records.write(record('bb.0', 2));
  expect(readdirSync(elsewhere)).toEqual(['aa_0.json']);
  expect((await records.all()).map(({ id }) => id)).toEqual(['bb.0']);
  expect(said.at(-1)).toMatch(/was a link, .* and it was moved to .*workspaces\.put-back-/);
});
