import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../layout.ts';
import { ShiftFiles } from './shift-files.ts';

const TASK = '## Configuration\n\n## Steps\n\n1. Say one\n\n## Validation\n\n- It was said\n';

test('M1 documents that did not change are the same object; an edit that keeps size and time is seen', async () => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-files-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = shiftPaths(root, 'night');
  mkdirSync(paths.folder, { recursive: true });
  writeFileSync(paths.manager, '# night\n\n## Shift Configuration\n\n- name: night\n\n## Task Order\n\n1. say\n');
  const file = paths.task('say');
  writeFileSync(file, TASK);
  const files = new ShiftFiles(paths);
  const first = await files.read();
  expect(await files.read()).toBe(first);
  const { atime, mtime } = statSync(file);
  writeFileSync(file, TASK.replace('one', 'two'));
  utimesSync(file, atime, mtime);
  const second = await files.read();
  expect(second.tasks[0]!.document).toMatchObject({ text: TASK.replace('one', 'two') });
  expect(second.manager).toBe(first.manager);
  writeFileSync(paths.env, 'A=1\n');
  expect((await files.read()).secrets).toEqual(new Map([['A', '1']]));
});
