import { setTimeout as sleep } from 'node:timers/promises';
import { isCheckpoint } from '../../core/folds/checkpoint.ts';
import type { NightshiftEvent } from '../../core/model/events.ts';
import { withCurrentNames } from '../../core/model/older-events.ts';
import { filesOfRun, olderFiles } from '../../store/folder/journal/journal-reader.ts';
import { LineFollower } from '../../store/folder/journal/line-follower.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { currentHolder, type Holder, isCommand } from '../../store/folder/run-lock.ts';

const LOOK_EVERY_MS = 150;

/** The run of the shift that is going on now. */
export function currentRun(paths: ShiftPaths): Holder | undefined {
  const holder = currentHolder(paths.runLock);
  return holder && isCommand(holder) ? undefined : holder;
}

/** Whether this run still holds the lock. */
export function isRunning(paths: ShiftPaths, run: string): boolean {
  return currentRun(paths)?.run === run;
}

/** One event of a run that is followed. `isPast`: it was there before the reader had caught up. */
export interface FollowedEvent {
  readonly event: NightshiftEvent;
  readonly isPast: boolean;
}

/**
 * The events of a run in another process, from its start to its end, as the journal gets them. Undefined means that all
 * events so far were read. Ends early when `signal` aborts.
 */
export async function* followRun(
  paths: ShiftPaths,
  run: string,
  signal: AbortSignal,
): AsyncGenerator<FollowedEvent | undefined> {
  let isPast = true;
  // After a loss, the run writes its events again.
  let seen = 0;
  for await (const lines of journalLines(paths, filesOfRun(paths.journal, run).slice(0, -1), run, signal)) {
    if (lines.length === 0) {
      isPast = false;
      yield undefined;
    }
    for (const event of lines.flatMap((line) => parseEvent(line) ?? [])) {
      // Edits by people have no run. Those from before this run don't belong to it.
      if (event.run !== run && (event.run !== '' || isPast)) continue;
      if (event.run === run && event.seq <= seen) continue;
      if (event.run === run) seen = event.seq;
      yield { event, isPast };
    }
  }
}

/** All events in the journal; with `run`, also those to come until that run ends. */
export async function* readJournal(paths: ShiftPaths, run?: string): AsyncGenerator<NightshiftEvent> {
  const older = olderFiles(paths.journal).map(({ file }) => file);
  for await (const lines of journalLines(paths, older, run)) {
    for (const line of lines) {
      const event = parseEvent(line);
      if (event) yield event;
    }
  }
}

/** The older files first, then the current one. */
async function* journalLines(
  paths: ShiftPaths,
  older: readonly string[],
  run: string | undefined,
  signal?: AbortSignal,
): AsyncGenerator<string[]> {
  for (const file of older) {
    for await (const found of followLines([{ file, tag: '' }], paths, undefined, signal)) {
      yield found.flatMap(({ lines }) => lines);
    }
  }
  for await (const found of followLines([{ file: paths.journal, tag: '' }], paths, run, signal)) {
    yield found.flatMap(({ lines }) => lines);
  }
}

/**
 * The lines of growing files, until the run that writes them has ended or `signal` aborts. Without a run: the lines
 * that are there now. An empty list means that all lines so far were read.
 */
export async function* followLines<T>(
  sources: readonly { readonly file: string; readonly tag: T }[],
  paths: ShiftPaths,
  run: string | undefined,
  signal?: AbortSignal,
): AsyncGenerator<{ lines: string[]; tag: T }[]> {
  await using followers = new Followers(sources);
  while (!signal?.aborted) {
    // Asked first: what the run wrote before it released the lock is still read below.
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
function parseEvent(line: string): NightshiftEvent | undefined {
  try {
    const event = withCurrentNames(JSON.parse(line)) as NightshiftEvent | null;
    const isEvent = typeof event === 'object' && event !== null && typeof event.type === 'string';
    return isEvent && !isCheckpoint(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
