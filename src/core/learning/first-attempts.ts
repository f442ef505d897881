import type { Successes } from './holdout.ts';

/** An item-task that ended, done or failed. */
export interface EndedItem {
  /** From 0. */
  readonly index: number;
  readonly done: boolean;
  /** Of the dev, all together. */
  readonly attempts: number;
}

const PARTS = 10;

/** Success on the first attempt, for each tenth of the table. Rows that have not ended don't count. */
export function firstAttemptsByTenth(rows: number, ended: Iterable<EndedItem>): Successes[] {
  const parts = Array.from({ length: PARTS }, () => ({ of: 0, succeeded: 0 }));
  for (const item of ended) {
    const part = parts[Math.floor((item.index * PARTS) / rows)];
    if (part === undefined) continue;
    part.of++;
    if (isFirstAttempt(item)) part.succeeded++;
  }
  return parts;
}

/** Success on the first attempt with lessons, and without them (rule of `holdout`). */
export function firstAttemptsByHoldout(
  ended: Iterable<EndedItem>,
  isHeldOut: (item: EndedItem) => boolean,
): { readonly given: Successes; readonly heldOut: Successes } {
  const [given, heldOut] = [
    { of: 0, succeeded: 0 },
    { of: 0, succeeded: 0 },
  ];
  for (const item of ended) {
    const part = isHeldOut(item) ? heldOut : given;
    part.of++;
    if (isFirstAttempt(item)) part.succeeded++;
  }
  return { given, heldOut };
}

function isFirstAttempt({ done, attempts }: EndedItem): boolean {
  return done && attempts === 1;
}
