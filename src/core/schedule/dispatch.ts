/** The dispatch policy: a size that doubles on success and halves on failure, for batches (P1, P2) and for streams (X7). */

const FIRST_SIZE = 2;

export interface SizeSettings {
  readonly batchSize?: number | undefined;
  readonly maxBatchSize?: number | undefined;
}

/** How the items of a batch ended; `returned`: given back or withdrawn, they count for neither side. */
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

/** How many items may be in flight in a stream, and what it takes to change that. */
export interface Limit {
  readonly size: number;
  /** Items that ended `done` in a row since the last change. */
  readonly streak: number;
  /** As many as allowed were really in flight since the last change. */
  readonly wasUsed: boolean;
  /** Counts the halvings: an item that was dispatched before the last one does not cause another. */
  readonly epoch: number;
}

export interface LimitChange {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

export function startLimit(settings: SizeSettings, epoch = 0): Limit {
  return { size: startSize(settings), streak: 0, wasUsed: false, epoch };
}

/** Growth needs a limit that was reached: else a few items in a row would say nothing about more at once. */
export function noteInFlight(limit: Limit, inFlight: number): Limit {
  return inFlight >= limit.size && !limit.wasUsed ? { ...limit, wasUsed: true } : limit;
}

/** How an item of a stream ended. `trouble`: it was given back, and why; fewer at once may be what it takes. */
export interface LimitedEnd {
  readonly end: 'done' | 'failed' | { readonly trouble: string };
  /** That of the limit when it was dispatched. */
  readonly epoch: number;
}

/** The limit after one item has ended. What was withdrawn counts for neither side. */
export function adaptLimit(limit: Limit, ended: LimitedEnd, max?: number): { limit: Limit; change?: LimitChange } {
  const { size, epoch } = limit;
  if (ended.end !== 'done') {
    if (ended.epoch < epoch) return { limit: { ...limit, streak: 0 } };
    const to = Math.max(1, Math.floor(size / 2));
    const reason = ended.end === 'failed' ? '1 failed' : `1 given back: ${ended.end.trouble}`;
    return changed(limit, cap(to, max), epoch + 1, reason);
  }
  const streak = limit.streak + 1;
  if (streak < size || !limit.wasUsed) return { limit: { ...limit, streak } };
  return changed(limit, cap(size * 2, max), epoch, `${streak} done in a row`);
}

function changed(limit: Limit, to: number, epoch: number, reason: string): { limit: Limit; change?: LimitChange } {
  const next = { size: to, streak: 0, wasUsed: false, epoch };
  return to === limit.size ? { limit: next } : { limit: next, change: { from: limit.size, to, reason } };
}

function cap(size: number, max: number | undefined): number {
  // Doubling without a cap must stay a number that can be written and read again.
  return Math.min(size, max ?? Number.MAX_SAFE_INTEGER, 2 ** 30);
}
