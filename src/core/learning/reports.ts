import type { Recommendation } from '../model/events.ts';

/** A recommendation of an item that passed (rule L1), and who made it. */
export interface FoldedRecommendation extends Recommendation {
  readonly at: string;
  readonly agent: string;
  readonly model?: string;
}

/** Nothing depends on the order in which items of a batch ended. The manager's agent sees them in this order, too. */
export function inOrder<T extends Recommendation>(recommendations: readonly T[]): T[] {
  return [...recommendations].sort((a, b) => a.row - b.row || ordered(a.item, b.item) || ordered(a.text, b.text));
}

export function ordered(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
