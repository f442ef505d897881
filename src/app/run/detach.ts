import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { limitTexts } from '../../core/schedule/budget.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { openInside } from '../../store/folder/files/inside.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { type Holder, lastHolder, refuseSecondRun } from '../../store/folder/run-lock.ts';
import { pauseOf } from '../pause-run.ts';
import type { World } from '../world.ts';
import { followRun } from './follow-run.ts';
import { planRun, type RunSettings } from './plan-run.ts';

/** The program `nightshift`, for Node to run. */
export const PROGRAM = fileURLToPath(new URL('../../cli/main.js', import.meta.url));

const LOOK_EVERY_MS = 20;
/** Reading a table of a million rows takes seconds. */
const BEGUN_WITHIN_MS = 30_000;
/** A run that asks for lessons first may tell nothing for minutes: then this many looks without an event are enough. */
const QUIET_LOOKS = 2;

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
  const held = await untilHeld(child, paths);
  if ('exitCode' in held) return { kind: 'ended', exitCode: held.exitCode, output: output() };
  const begun = await untilBegun(child, paths, held.run);
  child.unref();
  return {
    kind: 'running',
    begun: { shift: paths.name, ...held, log: paths.runLog, paused: pauseOf(paths)?.at ?? null, ...begun },
  };
}

/** The run that has taken its lock (and may have ended since), or the exit code of one that ended before. */
async function untilHeld(child: ChildProcess, paths: ShiftPaths): Promise<Holder | { readonly exitCode: number }> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (;;) {
    const isOver = hasEnded(child);
    const holder = lastHolder(paths.runLock);
    if (holder && holder.pid === child.pid) return holder;
    if (failure) throw new NightshiftError('locked', `the run can't be started: ${failure.message}`);
    if (isOver) return { exitCode: child.exitCode ?? EXIT.stopped };
    await sleep(LOOK_EVERY_MS);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

type Begin = Pick<DetachedRun, 'limits' | 'warnings'>;

/** What the run tells before its first item. One that ends early tells less. */
async function untilBegun(child: ChildProcess, paths: ShiftPaths, run: string): Promise<Begin> {
  const signal = AbortSignal.timeout(BEGUN_WITHIN_MS);
  for (;;) {
    const isOver = hasEnded(child) || signal.aborted;
    const { hasStarted, ...begin } = await readBegin(paths, run, signal);
    if (hasStarted || isOver) return begin;
    // A run that settles what a killed one left takes its lock twice.
    await sleep(LOOK_EVERY_MS);
  }
}

async function readBegin(
  paths: ShiftPaths,
  run: string,
  signal: AbortSignal,
): Promise<Begin & { readonly hasStarted: boolean }> {
  const warnings: string[] = [];
  let limits: string | null = null;
  let hasStarted = false;
  let quiet = 0;
  for await (const followed of followRun(paths, run, signal)) {
    const event = followed?.event;
    if (event?.type === 'run:warning') warnings.push(event.message);
    else if (event?.type === 'run:started') {
      hasStarted = true;
      limits = limitTexts(event.limits, event.spent, event.hasModel, Date.parse(event.at)).join(', ') || null;
    } else if (hasStarted && (event !== undefined || ++quiet === QUIET_LOOKS)) break;
  }
  return { hasStarted, limits, warnings };
}
