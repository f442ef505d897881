import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/harness.ts';

/** Nightshift dies here, so it is a process of its own: a small program on the built module. */
const MODULE = resolve('dist/agents/process/process.js');

/** Starts a program that runs the script through runProcess in a folder of its own, and then `after`. */
function startNightshift(script: string, after = ''): { child: ChildProcess; folder: string } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-guard-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = `
    import { runProcess } from '${MODULE}';
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

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return '';
  }
}

const status = (pid: number): string => read(`/proc/${pid}/status`);
const isAlive = (pid: number): boolean => /^State:\s+[^ZX]/m.test(status(pid));

/** Bytes that a process has read so far; a guard in `dash` reads one at a time. */
const bytesRead = (pid: number): number => Number(/^rchar: (\d+)/.exec(read(`/proc/${pid}/io`))?.[1] ?? 0);

function treeIn(folder: string, processes = TREE_PROCESSES): Promise<number[]> {
  return until(() => {
    const pids = (read(join(folder, 'pids')).match(/\d+\n/g) ?? []).map(Number);
    return pids.length >= processes && pids;
  }, 'the processes of the fixture');
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
    'a guard',
  );
}

test('R6 after a kill -9 of nightshift alone, nothing of the group lives, no daemon of it, nor the guard', async () => {
  const { child, folder } = startNightshift(TREE);
  const tree = await treeIn(folder);
  const guard = await guardOf(child.pid!, tree);
  expect(tree.filter(isAlive)).toEqual(tree);
  child.kill('SIGKILL');
  await until(() => ![...tree, guard].some(isAlive), 'the end of them all');
});

test('R6 a guard that was killed is replaced, and its successor knows the groups', async () => {
  const { child, folder } = startNightshift(TREE);
  const tree = await treeIn(folder);
  const first = await guardOf(child.pid!, tree);
  const bytes = bytesRead(first);
  process.kill(first, 'SIGTERM');
  process.kill(first, 'SIGKILL');
  const second = await guardOf(child.pid!, tree, first);
  await until(() => bytesRead(second) >= bytes, 'the second guard to read what the first has read');
  child.kill('SIGKILL');
  await until(() => ![...tree, second].some(isAlive), 'the end of them all');
});

test('R6 a program does not begin before the guard knows it: nightshift killed in between', async () => {
  const { child, folder } = startNightshift('echo ran > ran', "process.kill(process.pid, 'SIGKILL');");
  await until(() => child.signalCode ?? undefined, 'the kill');
  const isThere = (pid: string) => linkOf(`/proc/${pid}/cwd`) === folder;
  await until(() => !readdirSync('/proc').some(isThere), 'the end of the program that waits to begin');
  expect(read(join(folder, 'ran'))).toBe('');
});

test('R6 the guard neither keeps nightshift from ending nor outlives it', async () => {
  const { child, folder } = startNightshift('echo $$ >> pids; sleep 0.7; echo ran > ran');
  const guard = await guardOf(child.pid!, await treeIn(folder, 1));
  await until(() => child.exitCode === 0, 'its end');
  expect(read(join(folder, 'ran'))).toBe('ran\n');
  await until(() => !isAlive(guard), 'the end of the guard');
});
