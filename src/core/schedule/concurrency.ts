/**
 * How many items run at the same time: doubled on success, halved on failure, in batches (P1, P2) and streams (X7).
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

/** The concurrency of a stream, and what decides when it changes. */
export interface Concurrency {
  readonly size: number;
  /** Items that ended `done` in a row since the last change. */
  readonly streak: number;
  /** Whether all slots were in use at some time since the last change. */
  readonly wasUsed: boolean;
  /** Counts the halvings: an item that started before the last one does not cause another. */
  readonly epoch: number;
}

interface ConcurrencyChange {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

export function startConcurrency(settings: SizeSettings, epoch = 0): Concurrency {
  return { size: startSize(settings), streak: 0, wasUsed: false, epoch };
}

/** It grows only if it was reached: a few successes in a row say nothing about a higher concurrency. */
export function noteRunning(concurrency: Concurrency, running: number): Concurrency {
  return running >= concurrency.size && !concurrency.wasUsed ? { ...concurrency, wasUsed: true } : concurrency;
}

/** How an item of a stream ended. `trouble`: why it was given back; a lower concurrency may help. */
export interface StreamEnd {
  readonly end: 'done' | 'failed' | { readonly trouble: string };
  /** The epoch of the concurrency when the item started. */
  readonly epoch: number;
}

export interface Adaptation {
  readonly concurrency: Concurrency;
  readonly change?: ConcurrencyChange;
}

/** The concurrency after one item has ended. A withdrawn item counts for neither side. */
export function adaptConcurrency(before: Concurrency, ended: StreamEnd, max?: number): Adaptation {
  const { size, epoch } = before;
  if (ended.end !== 'done') {
    if (ended.epoch < epoch) return { concurrency: { ...before, streak: 0 } };
    const to = Math.max(1, Math.floor(size / 2));
    const reason = ended.end === 'failed' ? '1 failed' : `1 given back: ${ended.end.trouble}`;
    return changed(before, cap(to, max), epoch + 1, reason);
  }
  const streak = before.streak + 1;
  if (streak < size || !before.wasUsed) return { concurrency: { ...before, streak } };
  return changed(before, cap(size * 2, max), epoch, `${streak} done in a row`);
}

function changed(before: Concurrency, to: number, epoch: number, reason: string): Adaptation {
  const concurrency = { size: to, streak: 0, wasUsed: false, epoch };
  return to === before.size ? { concurrency } : { concurrency, change: { from: before.size, to, reason } };
}

function cap(size: number, max: number | undefined): number {
  // Doubling without a cap must stay a number that can be written and read back.
  return Math.min(size, max ?? Number.MAX_SAFE_INTEGER, 2 ** 30);
}
