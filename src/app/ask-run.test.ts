import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ControlFile } from '../store/folder/control-file.ts';
import { shiftPaths } from '../store/folder/layout.ts';
import { takeRunLock } from '../store/folder/run-lock.ts';
import { untilObeyed } from './ask-run.ts';

const holder = { pid: 4711, since: '2026-01-30T22:00:00.000Z', run: 'r1' };

test('X8 a run that does not react is named, with what helps; one that has ended needs no answer', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-ask-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const paths = shiftPaths(root, 'night');
  mkdirSync(paths.engine, { recursive: true });
  const isDraining = untilObeyed.bind(null, paths, holder, ({ draining }) => draining);
  expect(await isDraining()).toBeUndefined();
  using _lock = await takeRunLock(paths, holder);
  const file = new ControlFile(paths);
  // That of an earlier run is no answer.
  await file.answer({ run: 'r0', draining: true, stopping: false, leaving: false, running: 0 });
  await expect(isDraining(100)).rejects.toMatchObject({
    code: 'no-answer',
    exitCode: 4,
    message: expect.stringContaining('process 4711 has not answered'),
    hint: expect.stringContaining('`kill -CONT 4711`'),
  });
  await file.answer({ run: 'r1', draining: true, stopping: false, leaving: false, running: 2 });
  expect(await isDraining()).toMatchObject({ running: 2 });
});
