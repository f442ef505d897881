import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readBatch } from '../batch-file.ts';
import { readRecord } from '../documents/in-force-record.ts';
import { findRecord } from '../documents/protection-record.ts';
import { initRoot } from '../init-root.ts';
import { shiftPaths } from '../layout.ts';
import { lastHolder } from '../run-lock.ts';

test('F1 nobody waits for the other end of a pipe that an agent put in the place of what the engine keeps', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-test-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const paths = shiftPaths(root, 'night');
  const record = join(root, 'record');
  const ignored = join(root, '.nightshift', '.gitignore');
  for (const file of [paths.batch, paths.runLock, paths.inForce, ignored, join(record, 'files.jsonl')]) {
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('mkfifo', [file]);
  }
  expect(() => readBatch(paths)).toThrow(/batch\.json can't be read/);
  await expect(initRoot(root)).rejects.toThrow(/\.gitignore is not a file/);
  expect(lastHolder(paths.runLock)).toBeUndefined();
  expect(readRecord(paths)).toBeUndefined();
  expect(await findRecord(record)).toBeUndefined();
});
