import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Journal } from './journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'nightshift-journal-'));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('R3 a sync that failed is told to all who come later: the system tells it once, and what it lost stays lost', async () => {
  const file = join(folder, 'journal.jsonl');
  const handle = await open(file, 'w');
  const sync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
  await handle.close();
  await using journal = await Journal.open(file);
  sync.mockRejectedValueOnce(Object.assign(new Error('lost'), { code: 'EIO' }));
  journal.append({ type: 'dev:finished' });
  await expect(journal.flush()).rejects.toThrow('the disk failed at');
  await expect(journal.flush()).rejects.toThrow('the disk failed at');
  expect(() => journal.check()).toThrow('the disk failed at');
});
