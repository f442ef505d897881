/**
 * How many items run at the same time. In batches (P1, P2) it doubles on success and halves on failure; in a stream
 * (X7) it follows the share of items that fail.
 */

const FIRST_SIZE = 2;

export interface SizeSettings {
  readonly batchSize?: number | undefined;
  readonly maxBatchSize?: number | undefined;
}

/** How the items of a batch ended. `returned`: given back or withdrawn; they count for neither side. */
export interface BatchResult {
  readonly done: number;
  readonly failed: number;
  readonly returned: number;
}

export function startSize(settings: SizeSettings): number {
  return cap(settings.batchSize ?? FIRST_SIZE, settings.maxBatchSize);
}

/** The size of the next batch and why, from the nominal size of the last one. */
export function adaptSize(size: number, result: BatchResult, max?: number): { to: number; reason: string } {
  if (result.failed > 0) {
    const to = Math.max(1, Math.floor(size / 2));
    return { to: cap(to, max), reason: `${result.failed} failed` };
  }
  if (result.returned > 0) return { to: cap(size, max), reason: `${result.returned} given back` };
  if (result.done === 0) return { to: cap(size, max), reason: 'nothing was done' };
  const to = cap(size * 2, max);
  return { to, reason: to === size ? `all ${result.done} done, at max-batch-size` : `all ${result.done} done` };
}

/** A stream grows if at most one in five items fails, and shrinks if one in two does. */
const GROWS_TO_ONE_IN = 5;
const SHRINKS_FROM_ONE_IN = 2;

/** The concurrency of a stream, and what decides when it changes. */
export interface Concurrency {
  readonly size: number;
  /** How items have ended since the last decision. Each decision takes as many as may run together. */
  readonly done: number;
  readonly failed: number;
  /** Items that failed since one was last done. */
  readonly failedInRow: number;
  /** Whether all slots were in use at some time since the last change. */
  readonly wasUsed: boolean;
  /** Counts how often it has shrunk: an item that started before the last time does not count any more. */
  readonly version: number;
}

interface ConcurrencyChange {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

export function startConcurrency(settings: SizeSettings, version = 0): Concurrency {
  return { size: startSize(settings), done: 0, failed: 0, failedInRow: 0, wasUsed: false, version };
}

/**
 * How many items may run now. The slot of a failed item stays empty until one is done: a task that breaks for good
 * costs the items that are running and no new ones, except one at a time until it is paused (rule X6).
 */
export function openSlots({ size, failedInRow }: Concurrency): number {
  return Math.max(1, size - failedInRow);
}

/** It grows only if it was reached: a few successes in a row say nothing about a higher concurrency. */
export function noteRunning(concurrency: Concurrency, running: number): Concurrency {
  return running >= concurrency.size && !concurrency.wasUsed ? { ...concurrency, wasUsed: true } : concurrency;
}

/** How an item of a stream ended. A withdrawn item counts for neither side. */
export interface StreamEnd {
  readonly end: 'done' | 'failed' | 'returned';
  /** What suggests that fewer should run at once: a timeout, or trouble that passes. */
  readonly overload?: string | undefined;
  /** The version of the concurrency when the item started. */
  readonly version: number;
}

export interface Adaptation {
  readonly concurrency: Concurrency;
  readonly change?: ConcurrencyChange;
}

/** The concurrency after one item has ended. */
export function adaptConcurrency(before: Concurrency, { end, overload, version }: StreamEnd, max?: number): Adaptation {
  const concurrency = { ...before, failedInRow: failuresInRow(before, end) };
  if (version < before.version) return { concurrency };
  if (overload !== undefined) return shrunk(concurrency, overload, max);
  const { size, wasUsed } = before;
  const done = before.done + Number(end === 'done');
  const failed = before.failed + Number(end === 'failed');
  const ended = done + failed;
  // Not later than needed: half of them have failed, however the others end.
  if (failed * SHRINKS_FROM_ONE_IN >= Math.max(size, ended)) {
    return shrunk(concurrency, `${failed} of ${ended} failed`, max);
  }
  if (ended < size) return { concurrency: { ...concurrency, done, failed } };
  const isWell = failed * GROWS_TO_ONE_IN <= ended;
  if (!isWell || !wasUsed) return { concurrency: { ...concurrency, done: 0, failed: 0 } };
  return changed(concurrency, cap(size * 2, max), `${done} of ${ended} done`);
}

function failuresInRow({ failedInRow }: Concurrency, end: StreamEnd['end']): number {
  if (end === 'done') return 0;
  return failedInRow + Number(end === 'failed');
}

function shrunk(before: Concurrency, reason: string, max: number | undefined): Adaptation {
  const to = Math.max(1, Math.floor(before.size / 2));
  return changed({ ...before, version: before.version + 1 }, cap(to, max), reason);
}

function changed(before: Concurrency, to: number, reason: string): Adaptation {
  const concurrency = { ...before, size: to, done: 0, failed: 0, wasUsed: false };
  return to === before.size ? { concurrency } : { concurrency, change: { from: before.size, to, reason } };
}

function cap(size: number, max: number | undefined): number {
  // Doubling without a cap must stay a number that can be written and read back.
  return Math.min(size, max ?? Number.MAX_SAFE_INTEGER, 2 ** 30);
}
