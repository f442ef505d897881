import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { beforeEachStart, runProcess } from './process.ts';

test('a program that is no longer wanted when its turn comes does not begin', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'before-start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const stop = new AbortController();
  const request = { file: '/bin/sh', cwd: folder, env: {}, signal: stop.signal, keepBytes: 100 };
  const touch = (name: string) => runProcess({ ...request, args: ['-c', `echo >${name}`] });
  {
    using _wait = beforeEachStart(async () => {});
    expect(await touch('first')).toMatchObject({ kind: 'exited', code: 0 });
  }
  {
    using _wait = beforeEachStart(async () => stop.abort());
    expect(await touch('second')).toMatchObject({ kind: 'aborted' });
  }
  expect(['first', 'second'].map((name) => existsSync(join(folder, name)))).toEqual([true, false]);
});
