import { setTimeout as sleep } from 'node:timers/promises';
import { isCheckpoint } from '../../core/folds/checkpoint.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { LineFollower } from '../../store/folder/journal/line-follower.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';

const LOOK_EVERY_MS = 150;

/** Whether a certain run still holds the lock. */
export function isRunning(paths: ShiftPaths, run: string): boolean {
  return currentHolder(paths.runLock)?.run === run;
}

/**
 * The lines of files that grow, until the run that writes them has ended (`run` undefined: what is there now) or `signal`
 * says so. An empty list: all that was there has been read.
 */
export async function* followLines<T>(
  sources: readonly { readonly file: string; readonly tag: T }[],
  paths: ShiftPaths,
  run: string | undefined,
  signal?: AbortSignal,
): AsyncGenerator<{ lines: string[]; tag: T }[]> {
  await using followers = new Followers(sources);
  while (!signal?.aborted) {
    // Asked first: what the run wrote before it let go of the lock is still read below.
    const isOver = run === undefined || !isRunning(paths, run);
    let found = 0;
    for (const { follower, tag } of followers.all) {
      const lines = await follower.read();
      found += lines.length;
      if (lines.length > 0) yield [{ lines, tag }];
    }
    if (found > 0) continue;
    if (isOver) return;
    yield [];
    await sleep(LOOK_EVERY_MS, undefined, signal ? { signal } : {}).catch(() => {});
  }
}

class Followers<T> implements AsyncDisposable {
  readonly all: readonly { readonly follower: LineFollower; readonly tag: T }[];

  constructor(sources: readonly { readonly file: string; readonly tag: T }[]) {
    this.all = sources.map(({ file, tag }) => ({ follower: new LineFollower(file), tag }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { follower } of this.all) await follower[Symbol.asyncDispose]();
  }
}

/** A line of the journal, if it is an event. */
export function parseEvent(line: string): NightshiftEvent | undefined {
  try {
    const event = JSON.parse(line);
    const isEvent = typeof event === 'object' && event !== null && typeof event.type === 'string';
    return isEvent && !isCheckpoint(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
