import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/model/errors.ts';
import type { NightshiftEvent } from '../core/model/events.ts';
import type { NextCommand } from '../core/schedule/run-request.ts';
import { ControlFile } from '../store/folder/control-file.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { type Holder, isCommand, provenHolder } from '../store/folder/run-lock.ts';
import { untilObeyed } from './ask-run.ts';
import { lastEvent } from './history.ts';
import { findNext } from './next-command.ts';
import { isRunning } from './run/follow-run.ts';
import type { World } from './world.ts';

const LOOK_EVERY_MS = 100;
const GONE_WITHIN_MS = 3000;

/** `end`: how the run says that it ended; undefined if it was killed. */
export interface StoppedRun {
  readonly hasEnded: boolean;
  readonly end?: Extract<NightshiftEvent, { type: 'run:finished' }> | undefined;
}

/** The process that runs a shift; undefined: none does. */
export async function findRun(paths: ShiftPaths): Promise<Holder | undefined> {
  const holder = await provenHolder(paths.runLock);
  return holder && isCommand(holder) ? undefined : holder;
}

export interface StopOptions {
  /** Running items are given back; otherwise they finish. */
  readonly now: boolean;
  /** The run ends at once, and its items stay with the workers of a fleet. Not together with `now`. */
  readonly leave?: boolean;
  /** How many milliseconds to wait for the end; without it, for as long as it takes. */
  readonly within?: number;
}

/** Asks a run to end and waits for it. It resumes with the next start. Refuses `leave` before anything is asked. */
export async function stopRun(
  paths: ShiftPaths,
  holder: Holder,
  { now, leave = false, within }: StopOptions,
  world: Pick<World, 'now'>,
): Promise<StoppedRun> {
  if (leave) await refuseToLeave(paths, holder, now);
  await new ControlFile(paths).stop(holder.run, { now, leave }, new Date(world.now()).toISOString());
  await untilObeyed(paths, holder, ({ draining, stopping, leaving }) =>
    now ? stopping : leave ? leaving || stopping : draining,
  );
  if (!(await untilEnded(paths, holder, within))) return { hasEnded: false };
  return { hasEnded: true, end: await lastEvent(paths, holder.run, 'run:finished') };
}

/** Only workers of a fleet whose database lives on can go on without the run. */
async function refuseToLeave(paths: ShiftPaths, holder: Holder, now: boolean): Promise<void> {
  const { name } = paths;
  const others = `\`nightshift stop ${name}\` ends it when running items have finished, \`--now\` at once`;
  if (now) throw new NightshiftError('usage', "--leave and --now can't be used together", others);
  // It answers when it begins.
  const state = await untilObeyed(paths, holder, () => true);
  if (!state || state.fleet === 'env') return;
  const why =
    state.fleet === 'try'
      ? 'it uses `--fleet try`, whose database stops with the run'
      : 'it is not on a fleet: its agents run on this machine and end with it';
  throw new NightshiftError('usage', `can't stop ${name} and leave its agents running: ${why}`, others);
}

/** What to report after a run was stopped. */
export interface AfterStop {
  /** The command that continues; undefined: there is nothing to continue. */
  readonly next: NextCommand | undefined;
  readonly isPaused: boolean;
}

export async function readAfterStop(world: World, paths: ShiftPaths): Promise<AfterStop> {
  const isPaused = new ControlFile(paths).requests()?.pause !== undefined;
  return { next: await findNext(paths, world), isPaused };
}

/** The lock is free a moment before the process is gone. A process whose parent ignores it never quite goes. */
async function untilEnded(
  paths: ShiftPaths,
  { run, pid }: Holder,
  within = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  for (let waited = 0; isRunning(paths, run); waited += LOOK_EVERY_MS) {
    if (waited >= within) return false;
    await sleep(LOOK_EVERY_MS);
  }
  // A library stops a run of its own process, which lives on.
  if (pid === process.pid) return true;
  for (let waited = 0; waited < GONE_WITHIN_MS && isThere(pid); waited += LOOK_EVERY_MS) await sleep(LOOK_EVERY_MS);
  return true;
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
