import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { opened } from '../../test/kit/opened.ts';
import { WorkspaceSite } from '../../test/kit/workspace-site.ts';
import { parentOf } from './naming.ts';

test('W2 rows of the same name get different names, and records are read once for all of them', async () => {
  const site = new WorkspaceSite();
  site.repository({ 'a.txt': 'a\n' });
  const open = async (workspaces: ReturnType<WorkspaceSite['open']>, row: number) => {
    const item = { id: `id-${row}`, row, label: 'same' };
    return opened(await workspaces.open(site.request({ item }))).branch;
  };
  const first = await open(site.open(), 1);

  let reads = 0;
  const all = site.records.all.bind(site.records);
  site.records.all = () => {
    reads++;
    return all();
  };
  const next = site.open();
  const branches = [first, await open(next, 2), await open(next, 3), await open(next, 1)];
  expect([new Set(branches).size, branches[3], reads]).toEqual([3, first, 1]);
});

test.each([
  ['/data/ws', /^\/data\/ws\/app-[0-9a-f]{6}\/night$/],
  ['../ws', /^\/projects\/ws\/app-[0-9a-f]{6}\/night$/],
  ['~/ws', new RegExp(`^${homedir()}/ws/app-[0-9a-f]{6}/night$`)],
])('W2 workspaces-dir %s', (written, folder) => {
  expect(parentOf(written, '/projects/app', 'night')).toMatch(folder);
});
