import type { History } from '../core/folds/history.ts';
import type { ShiftStatus } from '../core/folds/shift-status.ts';
import { countAtWorkers, type Summary, summarise } from '../core/folds/summary.ts';
import { RowLabels } from '../core/model/row-labels.ts';
import type { Shift } from '../core/model/shift.ts';
import { limitsInForce, limitTexts } from '../core/schedule/budget.ts';
import { resultsIn } from '../engine/access.ts';
import { type FoundBatch, isStale, readBatch } from '../store/folder/batch-file.ts';
import { waitingCopies } from '../store/folder/documents/put-back.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import type { Snapshot } from '../store/store.ts';
import { readHistory } from './history.ts';
import { countKept } from './kept-workspaces.ts';
import { readLearning } from './lessons/list-lessons.ts';
import { nextAfterLastRun } from './next-command.ts';
import { openAndCheck } from './open-shift.ts';
import { pauseOf } from './pause-run.ts';
import { currentRun } from './run/follow-run.ts';
import type { World } from './world.ts';

export interface StatusReport {
  readonly status: ShiftStatus;
  /** The limits in words, with how much of each is used up. */
  readonly limits: readonly string[];
}

export async function readStatus(paths: ShiftPaths, world: Pick<World, 'env' | 'now'>): Promise<StatusReport> {
  // Before the table: if no run holds the lock, the table that is read next has all its results.
  const holder = currentRun(paths);
  const { shift, snapshot } = await openAndCheck(paths);
  const history = await readHistory(paths, world);
  return describeWhole({ paths, holder, shift, snapshot, history }, world.now());
}

/** With the failures, which take the identities of all rows that failed. */
export function describeWhole(known: Omit<KnownShift, 'summary'>, now: number): Promise<StatusReport> {
  const { shift, snapshot, history } = known;
  const summary = summarise(snapshot, history, RowLabels.in(shift, snapshot));
  return describeStatus({ ...known, summary }, now);
}

/** A shift as it was read. */
export interface KnownShift {
  readonly paths: ShiftPaths;
  /** The process that runs it, found before the table was read. */
  readonly holder: NonNullable<ShiftStatus['running']> | undefined;
  readonly shift: Shift;
  readonly snapshot: Snapshot;
  readonly history: History;
  readonly summary: Summary;
}

export async function describeStatus(known: KnownShift, now: number): Promise<StatusReport> {
  const { paths, holder, shift, snapshot, history, summary } = known;
  const { usage, tally } = history;
  const set = shift.settings.limits;
  // Only the run knows the limits of its command line; it told them when it began.
  const limits = (holder && tally.limits) ?? limitsInForce(set, false, now);
  const batch = readBatch(paths);
  const pause = pauseOf(paths);
  const { counts } = summary;
  const workers = holder ? countAtWorkers(snapshot, history) : [];
  const isFree = !holder && !batch;
  const next = isFree ? nextAfterLastRun({ shift: paths.name, history, limits: set, counts, now }) : undefined;
  const status = {
    shift: paths.name,
    running: holder ?? null,
    ...(workers.length === 0 ? {} : { workers }),
    paused: pause ? { since: pause.at, now: pause.now } : null,
    lastRun: history.lastRun ? { end: null, ...history.lastRun } : null,
    batch: batch ? describeBatch(batch, now) : null,
    putBack: [...new Set(waitingCopies(paths.folder).map(({ document }) => document))],
    ...summary,
    learning: readLearning(shift, { items: snapshot, history, now }),
    results: resultsIn(shift) ?? null,
    workspaces: await countKept(paths, snapshot),
    ms: tally.ms,
    limits,
    next: next ?? null,
  };
  return { status, limits: limitTexts(limits, { usage, ms: tally.ms, failures: tally.failures }, false, now) };
}

function describeBatch(found: FoundBatch, now: number): NonNullable<ShiftStatus['batch']> {
  const { task, items, opened } = found.batch;
  return { task, items: items.length, opened, isStale: isStale(found, now) };
}
