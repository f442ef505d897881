import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { WorkerFolder } from './worker-folder.ts';

test('what a killed worker has left is removed by a later one; if it can’t be, workers start all the same', async () => {
  const state = mkdtempSync(join(tmpdir(), 'nightshift-worker-folder-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const left = join(state, 'nightshift/fleet/killed');
  mkdirSync(left, { recursive: true });
  writeFileSync(`${left}.lock`, '');
  const told: string[] = [];
  const remove = async (folder: string) => {
    if (folder === left) throw new Error('EACCES: permission denied');
    await removeFolder(folder);
  };
  const open = (id: string, more = {}) =>
    WorkerFolder.open({ env: { XDG_STATE_HOME: state } }, id, { warn: (message) => told.push(message), ...more });

  {
    await using folder = await open('one', { remove });
    expect(existsSync(folder.path)).toBe(true);
  }
  expect(told.splice(0)).toEqual([`${left} can't be removed: EACCES: permission denied. Remove it yourself`]);
  expect(existsSync(join(state, 'nightshift/fleet/one'))).toBe(false);

  await using _next = await open('two');
  expect([existsSync(left), existsSync(`${left}.lock`), told]).toEqual([false, false, []]);
});
