import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { openInside } from '../../store/folder/files/inside.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { lastHolder, refuseSecondRun } from '../../store/folder/run-lock.ts';
import { pauseOf } from '../pause-run.ts';
import type { World } from '../world.ts';
import { planRun, type RunSettings } from './plan-run.ts';

/** The program `nightshift`, for Node to run. */
export const PROGRAM = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

const LOOK_EVERY_MS = 20;
/** Reading a table of a million rows takes seconds. */
const BEGUN_WITHIN_MS = 30_000;

export type Detached =
  | { readonly kind: 'running'; readonly begun: DetachedRun }
  /** It ended before it held the run lock; `output` is what it printed. */
  | { readonly kind: 'ended'; readonly exitCode: number; readonly output: string }
  /** Everything is done: no run was started. */
  | { readonly kind: 'complete' };

export interface DetachedRun {
  readonly shift: string;
  readonly pid: number;
  readonly since: string;
  readonly run: string;
  readonly log: string;
  /** In words; null if there are none. */
  readonly limits: string | null;
  readonly warnings: readonly string[];
  /** Since when the shift is paused (ISO 8601): the run waits for `resume`. Null: it is not. */
  readonly paused: string | null;
}

/**
 * Runs a shift in a process and a session of its own, so that it survives the terminal. Wrong input throws here, as it
 * would in the foreground. Returns when the run holds its lock. `words`: the command line of the run.
 */
export async function startDetached(
  paths: ShiftPaths,
  settings: RunSettings,
  words: readonly string[],
  world: World,
): Promise<Detached> {
  const { snapshot } = await planRun(paths, settings, world);
  const { total, completed } = countItems(snapshot);
  if (completed === total) return { kind: 'complete' };
  refuseSecondRun(paths.runLock, paths.name);
  const log = openInside(paths.folder, paths.runLog, constants.O_WRONLY | constants.O_APPEND);
  const begin = fstatSync(log).size;
  const child = spawn(process.execPath, [PROGRAM, ...words], {
    cwd: world.cwd,
    env: world.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const output = () => readFileSync(paths.runLog).subarray(begin).toString('utf8').trimEnd();
  const exitCode = await untilHeld(child, paths);
  if (exitCode !== undefined) return { kind: 'ended', exitCode, output: output() };
  const first = await untilBegun(child, paths.name, output);
  child.unref();
  const { pid, since, run } = lastHolder(paths.runLock)!;
  return {
    kind: 'running',
    begun: { shift: paths.name, pid, since, run, log: paths.runLog, paused: pauseOf(paths)?.at ?? null, ...first },
  };
}

/** Undefined when the run has taken its lock (and may have ended since), else its exit code. */
async function untilHeld(child: ChildProcess, paths: ShiftPaths): Promise<number | undefined> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (;;) {
    const isOver = hasEnded(child);
    if (lastHolder(paths.runLock)?.pid === child.pid) return undefined;
    if (failure) throw new NightshiftError('locked', `the run can't be started: ${failure.message}`);
    if (isOver) return child.exitCode ?? EXIT.stopped;
    await sleep(LOOK_EVERY_MS);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** What the run prints before its first item: warnings and limits. */
async function untilBegun(
  child: ChildProcess,
  shift: string,
  output: () => string,
): Promise<Pick<DetachedRun, 'limits' | 'warnings'>> {
  const hasBegun = () => /\n./.test(output().split(`${shift}: `)[1] ?? '');
  for (let waited = 0; !hasBegun() && !hasEnded(child) && waited < BEGUN_WITHIN_MS; waited += LOOK_EVERY_MS) {
    await sleep(LOOK_EVERY_MS);
  }
  // Lines that belong together are written one by one.
  await sleep(LOOK_EVERY_MS);
  const lines = output().split('\n');
  const of = (prefix: string) => lines.flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []));
  return { warnings: of('warning: '), limits: of('limits: ')[0] ?? null };
}
