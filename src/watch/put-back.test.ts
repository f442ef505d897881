import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { PutBack } from './put-back.ts';

const folder = mkdtempSync(join(tmpdir(), 'nightshift-put-back-'));

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('D5 a file that was added is kept when it is taken away, however large it is', async () => {
  const path = join(folder, 'large.bin');
  const content = Buffer.alloc(17 * 1024 * 1024, 'x');
  writeFileSync(path, content);
  const putBack = new PutBack(join(folder, '.engine/put-back'));
  const kept = await putBack.restore({ path, state: { kind: 'none' } }, async () => undefined);
  expect(existsSync(path)).toBe(false);
  expect(readFileSync(kept!).equals(content)).toBe(true);
});
