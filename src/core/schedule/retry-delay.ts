/** The upper bound of a delay. */
const LONGEST_MS = 60 * 60_000;

/**
 * The delay before the n-th retry of a dev. It doubles each time, with 50 % random variation so that items that
 * failed together do not come back together. `random`: from 0 to 1.
 */
export function retryDelay(firstMs: number, retry: number, random: number): number {
  const nominal = Math.min(LONGEST_MS, firstMs * 2 ** (retry - 1));
  return Math.round(nominal * (0.5 + random));
}
