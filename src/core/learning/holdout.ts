import { isInShare } from '../schedule/sample.ts';

/** Whether a row does without lessons: the same rows in every run. `share` is from 0 to 1. */
export function isHeldOut(item: string, share: number): boolean {
  return isInShare(share, 'holdout', item);
}

/** How many of some rows succeeded. */
export interface Successes {
  readonly of: number;
  readonly succeeded: number;
}

/** The difference of two shares, and the interval that holds the true one in 95 of 100 cases. */
export interface Difference {
  readonly difference: number;
  readonly low: number;
  readonly high: number;
}

const Z = 1.959964;

/**
 * How much larger the share of `a` is than that of `b`: Newcombe's interval, from the two Wilson intervals. It holds
 * for small numbers and for shares near 0 and 1. Undefined if one of them has no rows.
 */
export function differenceOf(a: Successes, b: Successes): Difference | undefined {
  if (a.of === 0 || b.of === 0) return undefined;
  const [left, right] = [wilson(a), wilson(b)];
  const difference = left.share - right.share;
  return {
    difference,
    low: difference - Math.hypot(left.share - left.low, right.high - right.share),
    high: difference + Math.hypot(left.high - left.share, right.share - right.low),
  };
}

function wilson({ of, succeeded }: Successes): { share: number; low: number; high: number } {
  const share = succeeded / of;
  const middle = share + Z ** 2 / (2 * of);
  const spread = Z * Math.sqrt((share * (1 - share)) / of + Z ** 2 / (4 * of ** 2));
  const scale = 1 + Z ** 2 / of;
  return { share, low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}
