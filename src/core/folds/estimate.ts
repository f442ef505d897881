/** Fewer ends than this don't allow an estimate. */
const FEWEST = 5;
/** Older ends say little: concurrency, and perhaps the Steps, have changed since. */
const LATEST = 40;

export interface Estimate {
  /** Milliseconds since 1970. */
  readonly earliest: number;
  readonly latest: number;
}

/**
 * When a run will probably finish, as a range: from how quickly the latest items ended, and wider the fewer there
 * were. The latest time also counts the time since the last end, so that a hanging run does not look almost done.
 */
export function estimateFinish(
  run: { readonly startedAt: number; readonly ends: readonly number[]; readonly remaining: number },
  now: number,
): Estimate | undefined {
  const { startedAt, ends, remaining } = run;
  if (ends.length < FEWEST || remaining === 0) return undefined;
  const latest = ends.slice(-LATEST);
  const before = ends[ends.length - latest.length - 1] ?? startedAt;
  const last = latest.at(-1)!;
  const spread = 1 / Math.sqrt(latest.length);
  const quick = ((last - before) / latest.length) * (1 - spread);
  const slow = ((Math.max(now, last) - before) / latest.length) * (1 + spread);
  return { earliest: Math.max(now, last + remaining * quick), latest: now + remaining * slow };
}
