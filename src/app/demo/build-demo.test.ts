import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findOrBuildDemo } from './build-demo.ts';

test('a demo in which something is left to do is continued; a finished one makes way for a new one', async () => {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-demo-test-')));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const find = () => findOrBuildDemo({ cwd, env: {}, now: Date.now });
  const first = await find();
  expect([basename(first.root), (await find()).root]).toEqual(['nightshift-demo', first.root]);

  const table = readFileSync(first.table, 'utf8');
  writeFileSync(first.table, table.replaceAll('todo', 'done'));
  expect(basename((await find()).root)).toBe('nightshift-demo-2');
});
