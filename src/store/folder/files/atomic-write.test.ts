import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { removeTemporaries, temporaryName } from './atomic-write.ts';

test('T3 T6 what a dead process left half written is removed, and what a live one is writing is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-temporaries-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The parent of this process lives; no process has an id that high.
  const live = `.a.json.${process.ppid}-0.nightshift-tmp`;
  const dead = `.a.json.${2 ** 30}-0.nightshift-tmp`;
  const older = `.a.json.${process.ppid}0.nightshift-tmp`;
  for (const name of [live, dead, older, temporaryName('a.json'), 'a.json']) writeFileSync(join(folder, name), '');
  await removeTemporaries(folder);
  expect(readdirSync(folder).sort()).toEqual([live, 'a.json'].sort());
});
