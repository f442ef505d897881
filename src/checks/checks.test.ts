import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../test/harness.ts';
import { NO_MASK } from '../core/text/mask.ts';
import { type CheckRequest, runCheck } from './checks.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-check-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function check(source: string, more: Partial<CheckRequest> = {}) {
  return runCheck({
    script: { source, values: { VALUE_1: 'a b' } },
    folder,
    environment: { PATH: process.env.PATH!, NIGHTSHIFT_SHIFT_DIR: folder, NIGHTSHIFT_KEY: 'check-1' },
    timeoutMs: 60_000,
    limit: new AbortController().signal,
    signal: new AbortController().signal,
    mask: NO_MASK,
    ...more,
  });
}

function isAlive(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !/^State:\s+[ZX]/m.test(readFileSync(status, 'utf8'));
}

test('X2 passes when every line does; a failing line is the reason, with its output', async () => {
  expect(await check('test "$VALUE_1" = "a b"')).toEqual({ kind: 'passed' });
  const failed = await check('echo looking; grep -q needle /dev/null; echo "not reached"');
  expect(failed).toEqual({ kind: 'failed', reason: 'exit code 1: looking', final: false });
  const long = await check('i=0; while [ $i -lt 100 ]; do echo "line $i"; i=$((i+1)); done; exit 3');
  expect(long).toMatchObject({ reason: expect.stringMatching(/^exit code 3: line 90\n.*line 99$/s) });
});

test('X2 R7 is ended with its whole tree when its time is over, and that is final', async () => {
  const timed = await check('sh -c \'trap "" TERM; echo $$ > pid; while :; do sleep 1; done\' & wait; sleep 300', {
    timeoutMs: 500,
    limit: AbortSignal.timeout(500),
  });
  expect(timed).toEqual({ kind: 'failed', reason: 'timed out after 0.5s', final: true });
  expect(isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8')))).toBe(false);
});

test('X2 stopped from outside it has no result', async () => {
  const stop = new AbortController();
  const running = check('touch up; sleep 300', { signal: stop.signal });
  await until(() => existsSync(join(folder, 'up')), 'the check');
  stop.abort();
  expect(await running).toEqual({ kind: 'aborted' });
  expect(await check('true', { signal: AbortSignal.abort() })).toEqual({ kind: 'aborted' });
});
