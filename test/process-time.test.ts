import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { sleep, until } from './harness.ts';

/** Time must pass in full while a process is stopped: more than the longest beat that counts in full. */
const STOPPED_MS = 1500;
const TIMEOUT_MS = 1400;

/** Answers each line with its times. */
const PROGRAM = `
  import { processClock } from ${JSON.stringify(resolve('dist/app/run/process-time.js'))};
  const clock = processClock(Date.now);
  const { signal } = clock.timeout(${TIMEOUT_MS});
  const tell = () => console.log(JSON.stringify({ wall: performance.now(), active: clock.elapsed(), isOver: signal.aborted }));
  process.stdin.on('data', () => setTimeout(tell, 0));
`;

test('X6 time for which a process is stopped (Ctrl-Z) counts neither for a timeout nor as active', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const ask = async () => {
    child.stdin.write('?\n');
    return JSON.parse((await lines.next()).value!);
  };
  const before = await ask();
  child.kill('SIGSTOP');
  await until(() => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')), 'the stop');
  await sleep(STOPPED_MS);
  child.kill('SIGCONT');
  const after = await ask();
  const notCounted = after.wall - before.wall - (after.active - before.active);
  expect(notCounted).toBeGreaterThan(1000);
  // The timer came due while the process was stopped.
  if (after.isOver) expect(after.active).toBeGreaterThanOrEqual(TIMEOUT_MS);
});
