import { hash } from 'node:crypto';

/**
 * Picks `size` of the candidates, in their own order. The seed and its name give each candidate a number, and the
 * smallest are picked. So a new candidate changes little, and a larger sample contains a smaller one.
 */
export function sample<T>(candidates: readonly T[], size: number, seed: string, nameOf: (candidate: T) => string): T[] {
  const lots = Float64Array.from(candidates, (candidate) => lotOf(seed, nameOf(candidate)));
  const last = lots.toSorted()[size - 1] ?? Number.POSITIVE_INFINITY;
  return candidates.filter((_, i) => lots[i]! <= last).slice(0, size);
}

const LOTS = 2 ** 48;

/** Whether a candidate is in a share (0 to 1) of all: decided by the seed and its name alone. */
export function isInShare(share: number, seed: string, name: string): boolean {
  return lotOf(seed, name) < share * LOTS;
}

/** 48 bits, so that a number holds them. */
function lotOf(seed: string, name: string): number {
  return Number.parseInt(hash('sha256', JSON.stringify([seed, name])).slice(0, 12), 16);
}
