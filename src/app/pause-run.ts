import type { PauseRequest } from '../core/model/control.ts';
import { ControlFile } from '../store/folder/control-file.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import type { Holder } from '../store/folder/run-lock.ts';
import { untilObeyed } from './ask-run.ts';
import { findRun } from './stop-run.ts';
import type { World } from './world.ts';

/**
 * When and how the shift was paused; undefined: it is not paused. A pause lasts until `resume`, whatever happens to
 * runs, or until nothing is left to do.
 */
export function pauseOf(paths: ShiftPaths): PauseRequest | undefined {
  return new ControlFile(paths).requests()?.pause;
}

/** `running`: the process; null if none runs the shift. */
export interface PauseResult {
  readonly running: Holder | null;
  /** ISO 8601; absent: it is not paused. */
  readonly since?: string;
  /** How many items were running when the pause began. */
  readonly items?: number;
}

/** Nothing new starts in the run of a shift. `now`: running items are given back; otherwise they finish. */
export async function pauseRun(paths: ShiftPaths, now: boolean, world: Pick<World, 'now'>): Promise<PauseResult> {
  const holder = await findRun(paths);
  const before = pauseOf(paths);
  if (!holder) return { running: null, ...(before ? { since: before.at } : {}) };
  const file = new ControlFile(paths);
  await file.pause(now, new Date(world.now()).toISOString());
  const state = await untilObeyed(paths, holder, ({ pause }) => pause !== undefined && (pause.now || !now));
  if (state?.pause) return { running: holder, since: state.pause.since, items: state.running };
  // The run ended at that moment: what was not paused must not hold up the next one.
  if (!before) await file.resume();
  return { running: null };
}

/** `wasPaused` is false if there was nothing to resume. */
export interface ResumeResult {
  readonly wasPaused: boolean;
  readonly running: Holder | null;
}

export async function resumeShift(paths: ShiftPaths): Promise<ResumeResult> {
  const wasPaused = pauseOf(paths) !== undefined;
  const holder = await findRun(paths);
  await new ControlFile(paths).resume();
  if (!holder) return { wasPaused, running: null };
  const state = wasPaused ? await untilObeyed(paths, holder, ({ pause }) => pause === undefined) : undefined;
  return { wasPaused, running: wasPaused && !state ? null : holder };
}
