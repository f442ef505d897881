/** The dispatch policy of rules P1, P2 and P4: a batch size that doubles on success and halves on failure. */

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

function cap(size: number, max: number | undefined): number {
  // Doubling without a cap must stay a number that can be written and read again.
  return Math.min(size, max ?? Number.MAX_SAFE_INTEGER, 2 ** 30);
}
