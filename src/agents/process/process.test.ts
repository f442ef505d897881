import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../test/harness.ts';
import { howItEnded, type ProcessRequest, type ProcessResult, runProcess, SHELL } from './process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightshift-process-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sh(source: string, more: Partial<ProcessRequest> = {}): Promise<ProcessResult> {
  return runProcess({
    file: SHELL,
    args: ['-e', '-c', source],
    cwd: folder,
    env: { PATH: process.env.PATH!, NIGHTSHIFT_SHIFT_DIR: folder, NIGHTSHIFT_KEY: 'item-1' },
    signal: new AbortController().signal,
    keepBytes: 64 * 1024,
    ...more,
  });
}

/** After a garbage collection, so that only what is still referred to counts. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Runs a script that writes the ids of its processes to `pids`, and aborts when there are as many as expected. */
async function abortWhenUp(source: string, processes: number): Promise<{ ended: ProcessResult; pids: number[] }> {
  const stop = new AbortController();
  const running = sh(source, { signal: stop.signal });
  const pids = await pidsIn(processes);
  stop.abort();
  return { ended: await running, pids };
}

function pidsIn(processes: number): Promise<number[]> {
  return until(() => {
    const pids = (read(join(folder, 'pids')).match(/\d+\n/g) ?? []).map(Number);
    return pids.length >= processes && pids;
  }, 'the processes of the fixture');
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** A zombie that nobody has fetched yet does nothing any more. */
function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`));
}

describe('how a program ends', () => {
  test('X4 exit code, signal and both streams come back; input arrives byte for byte; no input is /dev/null', async () => {
    const failed = await sh('echo out; echo "bad: é" >&2; exit 3');
    expect(failed).toMatchObject({ kind: 'exited', code: 3, stdout: { text: 'out\n' }, stderr: { text: 'bad: é\n' } });
    expect(await sh('kill -SEGV $$')).toMatchObject({ kind: 'signalled', signal: 'SIGSEGV' });
    const input = `first line\n\\n "quotes" $HOME\n${'ü'.repeat(200_000)}\nno end`;
    expect((await sh('cat', { input, keepBytes: 1 << 20 })).stdout).toEqual({ text: input, cut: false });
    expect(await sh('cat; echo end')).toMatchObject({ kind: 'exited', code: 0, stdout: { text: 'end\n' } });
    expect(await sh('exec 0<&-; exit 0', { input: 'x'.repeat(1 << 20) })).toMatchObject({ kind: 'exited', code: 0 });
  });

  test('X4 the streams are pipes, so that a program may open them by name', async () => {
    const ended = await sh('cat /dev/stdin; echo oops > /dev/stderr', { input: 'asked' });
    expect(ended).toMatchObject({ kind: 'exited', code: 0, stdout: { text: 'asked' }, stderr: { text: 'oops\n' } });
  });

  test('X3 a script finds itself alone: its lines, its name, no arguments, every signal as it should be', async () => {
    const alone = await sh('echo "$0 $# $-"\nkill -PIPE $$');
    expect(alone).toMatchObject({ kind: 'signalled', signal: 'SIGPIPE', stdout: { text: `${SHELL} 0 e\n` } });
    expect((await sh('true\n\n: "$(exit 1)"; . /gone')).stderr.text).toMatch(/\b3: .*gone/);
    const other = await sh('', { file: '/usr/bin/env', args: ['printf', '%s.', '-c', '$0', ''] });
    expect(other).toMatchObject({ kind: 'exited', code: 0, stdout: { text: '-c.$0..' } });
  });

  test('what could not be started says what to do, and whose fault it is', async () => {
    const large = await sh('true', { env: { NIGHTSHIFT_ITEM: 'x'.repeat(131_072 - 'NIGHTSHIFT_ITEM='.length) } });
    expect(large).toMatchObject({ kind: 'not-started', fault: 'item' });
    expect(large.kind === 'not-started' && large.reason).toMatch(/NIGHTSHIFT_ITEM.*131072 bytes.*131071.*file/);
    const fits = await sh('true', { env: { NIGHTSHIFT_ITEM: 'x'.repeat(131_071 - 'NIGHTSHIFT_ITEM='.length) } });
    expect(fits).toMatchObject({ kind: 'exited', code: 0 });
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`V${i}`, 'x'.repeat(100_000)]));
    expect(await sh('true', { env: many })).toMatchObject({ kind: 'not-started', fault: 'item' });
    const nowhere = await sh('true', { cwd: join(folder, 'gone') });
    expect(nowhere.kind === 'not-started' && nowhere.reason).toMatch(/working folder .*gone does not exist/);
    expect(await sh('true', { env: { A: 'a\0b' } })).toMatchObject({ kind: 'not-started', fault: 'item' });
  });

  const ESCAPES = {
    'in its group': 'sh ./daemon &',
    'a session of its own': 'setsid sh ./daemon &',
    nohup: 'nohup sh ./daemon >/dev/null 2>&1 &',
    'a double fork without an environment': '(env -i setsid sh ./daemon </dev/null >/dev/null 2>&1 &)',
    'one that comes back': '(env -i setsid sh -c "while :; do setsid sh ./daemon; done" >/dev/null 2>&1 &)',
  };
  const DAEMON = 'echo $$ >> pids; exec sleep 300';

  test.each(Object.entries(ESCAPES))('R6 R7 what a program leaves behind ends with it: %s', async (_, leave) => {
    writeFileSync(join(folder, 'daemon'), DAEMON);
    const ended = await sh(`${leave}\nuntil [ -s pids ]; do sleep 0.01; done; echo end`);
    expect(ended).toMatchObject({ kind: 'exited', code: 0, stdout: { text: 'end\n' } });
    expect((await pidsIn(1)).filter(isAlive)).toEqual([]);
  });

  test('R6 R7 what one program leaves behind ends with it, and that of another goes on', async () => {
    writeFileSync(join(folder, 'daemon'), DAEMON);
    const leave = ESCAPES['a double fork without an environment'];
    const other = new AbortController();
    const going = sh(`${leave}\nsleep 300`, { signal: other.signal });
    await pidsIn(1);
    await sh(`${leave}\nuntil [ "$(wc -l < pids)" -ge 2 ]; do sleep 0.01; done`);
    expect((await pidsIn(2)).map(isAlive)).toEqual([true, false]);
    other.abort();
    await going;
    expect((await pidsIn(2)).map(isAlive)).toEqual([false, false]);
  });
});

describe('R7 abort', () => {
  test('R7 ends a tree of several levels in which one ignores SIGTERM', async () => {
    const { ended, pids } = await abortWhenUp(
      `echo $$ >> pids
       sh -c 'trap "" TERM; echo $$ >> pids; sleep 300 & echo $! >> pids; while :; do wait; done' &
       sh -c 'sh -c "echo \\$\\$ >> pids; sleep 300; :"; :' &
       wait`,
      4,
    );
    expect(ended.kind).toBe('aborted');
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('R7 gives a program that heeds SIGTERM the time to put its things in order, also when its shell is gone', async () => {
    const { ended } = await abortWhenUp(
      `sh -c 'trap "sleep 0.4; echo tidy > tidied; exit" TERM; echo $$ >> pids; while :; do sleep 0.05; done'; :`,
      1,
    );
    expect(ended.kind).toBe('aborted');
    expect(read(join(folder, 'tidied'))).toBe('tidy\n');
  });

  test('R6 finds by their mark those that left the group: setsid, and forked twice', async () => {
    const { ended, pids } = await abortWhenUp(
      `setsid sh -c 'trap "" TERM; echo $$ >> pids; sleep 300; :' &
       (setsid sh -c 'sh -c "echo \\$\\$ >> pids; exec sleep 300" &' &)
       echo $$ >> pids; wait; sleep 300`,
      3,
    );
    expect(ended.kind).toBe('aborted');
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('R7 S13 a flood is drained in bounded memory, and ended', async () => {
    const stop = new AbortController();
    let characters = 0;
    let kept = Number.POSITIVE_INFINITY;
    const before = bytesInUse();
    const running = sh('trap "" TERM; yes "all work and no play" & yes é >&2', {
      signal: stop.signal,
      onOutput: (_, text) => {
        characters += text.length;
        if (characters < 40e6 || stop.signal.aborted) return;
        kept = bytesInUse() - before;
        stop.abort();
      },
    });
    const ended = await running;
    expect(ended.kind).toBe('aborted');
    expect(kept).toBeLessThan(10e6);
    expect(ended.stdout.text.length).toBeLessThanOrEqual(64 * 1024);
    expect(ended.stdout.cut).toBe(true);
    expect(ended.stderr.text).toMatch(/^[é\n]+$/);
  });

  test('R7 half a line that never ends reaches the listener, and is ended', async () => {
    const stop = new AbortController();
    const heard: string[] = [];
    const ended = await sh(`printf '{"overall_status": "SUC'; sleep 300`, {
      signal: stop.signal,
      onOutput: (_, text) => {
        heard.push(text);
        stop.abort();
      },
    });
    expect(ended).toMatchObject({ kind: 'aborted', stdout: { text: '{"overall_status": "SUC' } });
    expect(heard).toEqual(['{"overall_status": "SUC']);
  });

  test('R7 aborted before the start, nothing is started', async () => {
    expect((await sh('echo $$ >> pids', { signal: AbortSignal.abort() })).kind).toBe('aborted');
    expect(read(join(folder, 'pids'))).toBe('');
  });

  test('R7 aborted while they are being started, none of many begins', async () => {
    const stop = new AbortController();
    const running = Array.from({ length: 60 }, () => sh('echo began >> pids', { signal: stop.signal }));
    stop.abort();
    for (const ended of await Promise.all(running)) expect(ended.kind).toBe('aborted');
    expect(read(join(folder, 'pids'))).toBe('');
  });
});

test('S13 only the end of the output is kept, beginning with a whole character', async () => {
  const lines = 'i=0; while [ $i -lt 500 ]; do echo "$i ääää"; i=$((i+1)); done; echo last; exit 4';
  for (const keepBytes of [97, 98, 99, 100, 101, 102]) {
    const { text, cut } = (await sh(lines, { keepBytes })).stdout;
    expect(cut).toBe(true);
    expect(text).toMatch(/^[^\ufffd]*499 ääää\nlast\n$/);
    expect(Buffer.byteLength(text)).toBeGreaterThanOrEqual(keepBytes - 1);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(keepBytes);
  }
  const ended = await sh(lines);
  const said = ended.kind === 'exited' ? howItEnded(ended) : '';
  expect(said).toMatch(/^exit code 4: 491 ääää\n.*\nlast$/s);
  expect(said.split('\n')).toHaveLength(10);
});
