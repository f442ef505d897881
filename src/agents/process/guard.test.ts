import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { compile } from '../../../test/fixtures/compiled.ts';

/** Nightshift dies here, so it must be a process of its own: a small program on the compiled module. */
let compiled: string;
beforeAll(() => {
  compiled = compile('agents/process.ts');
});
afterAll(() => rmSync(compiled, { recursive: true, force: true }));

/** Starts a program that runs the script through runProcess in a folder of its own, and then `after`. */
function startNightshift(name: string, script: string, after = ''): { child: ChildProcess; folder: string } {
  const folder = join(compiled, name);
  mkdirSync(folder);
  const program = `
    import { runProcess } from '${compiled}/agents/process.js';
    const running = runProcess({ file: '/bin/sh', args: ['-c', ${JSON.stringify(script)}], cwd: '${folder}',
      env: { PATH: process.env.PATH }, signal: new AbortController().signal, keepBytes: 1024 });
    ${after}
    await running;`;
  return { child: spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' }), folder };
}

const TREE = `
  trap "" TERM; echo $$ >> pids; sleep 300 & echo $! >> pids
  setsid env -i /bin/sh -c '( trap "" TERM; sh -c "echo \\$\\$ >> pids; exec /bin/sleep 300" & )'
  sh -c 'trap "" TERM HUP; echo $$ >> pids; sh -c "echo \\$\\$ >> pids; sleep 300; :"; :' &
  while :; do wait; sleep 1; done`;
const TREE_PROCESSES = 5;

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const status = (pid: number): string => read(`/proc/${pid}/status`);
const isAlive = (pid: number): boolean => /^State:\s+[^ZX]/m.test(status(pid));

async function until<T>(what: () => T | undefined | false, ms: number): Promise<T> {
  for (let waited = 0; waited < ms; waited += 10) {
    const found = what();
    if (found !== undefined && found !== false) return found;
    await delay(10);
  }
  throw new Error(`not within ${ms} ms: ${what}`);
}

function treeIn(folder: string, processes = TREE_PROCESSES): Promise<number[]> {
  return until(() => {
    const pids = (read(join(folder, 'pids')).match(/\d+\n/g) ?? []).map(Number);
    return pids.length >= processes && pids;
  }, 10_000);
}

/** The child of nightshift that is not of the tree. */
function guardOf(nightshift: number, tree: readonly number[], not = 0): Promise<number> {
  return until(
    () =>
      readdirSync('/proc')
        .map(Number)
        .find(
          (pid) =>
            pid > 0 &&
            pid !== not &&
            !tree.includes(pid) &&
            isAlive(pid) &&
            status(pid).includes(`PPid:\t${nightshift}\n`),
        ),
    2000,
  );
}

test('R6 within 2 seconds of a kill -9 of nightshift alone, nothing of the group lives, no daemon of it, nor the guard', async () => {
  const { child, folder } = startNightshift('killed', TREE);
  const tree = await treeIn(folder);
  const guard = await guardOf(child.pid!, tree);
  expect(tree.filter(isAlive)).toEqual(tree);
  child.kill('SIGKILL');
  await until(() => ![...tree, guard].some(isAlive), 2000);
});

test('R6 a guard that was killed is replaced, and its successor knows the groups', async () => {
  const { child, folder } = startNightshift('unguarded', TREE);
  const tree = await treeIn(folder);
  const first = await guardOf(child.pid!, tree);
  process.kill(first, 'SIGTERM');
  process.kill(first, 'SIGKILL');
  const second = await guardOf(child.pid!, tree, first);
  await delay(100);
  child.kill('SIGKILL');
  await until(() => ![...tree, second].some(isAlive), 2000);
});

test('R6 a program does not begin before the guard knows it: nightshift killed in between', async () => {
  const { child, folder } = startNightshift('gate', 'echo ran > ran', "process.kill(process.pid, 'SIGKILL');");
  await until(() => child.signalCode ?? undefined, 10_000);
  await delay(500);
  expect(read(join(folder, 'ran'))).toBe('');
});

test('R6 the guard neither keeps nightshift from ending nor outlives it', async () => {
  const { child, folder } = startNightshift('ended', 'echo $$ >> pids; sleep 0.7; echo ran > ran');
  const guard = await guardOf(child.pid!, await treeIn(folder, 1));
  await until(() => child.exitCode === 0, 10_000);
  expect(read(join(folder, 'ran'))).toBe('ran\n');
  await until(() => !isAlive(guard), 1000);
});
