/** Fewer ends than this say nothing about the rest. */
const FEWEST = 5;
/** Older ends say little: the limit has changed since, and perhaps the Steps. */
const LATEST = 40;

export interface Estimate {
  /** Milliseconds since 1970. */
  readonly earliest: number;
  readonly latest: number;
}

/**
 * When a run will have finished, as a range: from how quickly the latest items ended, wider the fewer there were. The
 * late end also counts the time since the last one ended, so that a run that hangs does not look soon done.
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
