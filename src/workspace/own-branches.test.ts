import { expect, test } from 'vitest';
import type { OutsidePlace } from '../core/workspace/outside.ts';
import { OwnBranches } from './own-branches.ts';
import type { WorkspaceRecord } from './records.ts';

const HERE: OutsidePlace = { kind: 'repository', folder: '/app', label: '/app' };
const REMOTE: OutsidePlace = { kind: 'remote', folder: '/r.git', label: '/r.git' };

function recordOf(branch: string, commit: string, merged: string): WorkspaceRecord {
  return { branch, delivery: { commit, merges: [{ commit, merged }] } } as unknown as WorkspaceRecord;
}

const RECORDS = [recordOf('nightshift/night/b', 'b1', 'm2'), recordOf('nightshift/night/a', 'a1', 'm1')];

test('W11 branches that the engine has moved are known, and what agents do to them afterwards is not', async () => {
  const own = new OwnBranches('night', { all: async () => RECORDS });
  const three = recordOf('nightshift/night/c', '', '');
  const atWork = new Map([[3, { record: three }]]);
  const isOwn = async (branch: string, now: string | undefined, place = HERE) => {
    const change = { place, name: `refs/heads/${branch}`, now };
    return own.isOfRow(change, atWork) || (await own.isDelivered(change));
  };
  const begun = { branch: 'mine', base: 'x' } as unknown as WorkspaceRecord;
  own.begins(begun);
  expect([await isOwn('mine', 'x'), await isOwn('mine', 'y'), await isOwn('mine', undefined)]).toEqual([
    true,
    false,
    false,
  ]);
  own.enters(begun);
  expect(await isOwn('mine', 'x')).toBe(false);
  expect([await isOwn('nightshift/night/a', 'a1'), await isOwn('nightshift/night/a', 'evil')]).toEqual([true, false]);
  const into = 'nightshift/night/merged';
  expect([await isOwn(into, 'm1'), await isOwn(into, 'm2'), await isOwn(into, 'm1')]).toEqual([true, true, false]);
  expect([await isOwn(into, 'm2', REMOTE), await isOwn('main', undefined)]).toEqual([true, false]);
  // That of a row at work is its own, but not to be pushed. Other shifts have theirs.
  const ownBranch = three.branch;
  expect([await isOwn(ownBranch, 'y'), await isOwn(ownBranch, 'y', REMOTE)]).toEqual([true, false]);
  expect(await isOwn('nightshift/other/a', 'z')).toBe(true);
});
