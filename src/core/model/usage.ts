import type { Usage } from './model.ts';

const AMOUNTS = ['inputTokens', 'outputTokens', 'costUsd', 'unpricedTokens', 'unreadCosts'] as const;

/** Unknown stays unknown: a sum of nothing is not 0. Tokens without a cost are recorded as such. */
export function sum(a: Usage, b: Usage | undefined): Usage {
  if (!b) return a;
  const tokens = (b.inputTokens ?? 0) + (b.outputTokens ?? 0);
  const isUnpriced = b.costUsd === undefined && b.unpricedTokens === undefined && tokens > 0;
  return addAmounts(a, isUnpriced ? { ...b, unpricedTokens: tokens } : b);
}

/** Without regard to prices. */
export function addAmounts(a: Usage, b: Usage): Usage {
  const total: { -readonly [K in keyof Usage]: Usage[K] } = { ...a };
  for (const key of AMOUNTS) {
    const amount = b[key];
    // A line of the journal may contain anything.
    if (typeof amount === 'number' && amount >= 0) total[key] = exact((a[key] ?? 0) + amount);
  }
  return total;
}

/** Without the noise of binary fractions: 0.1 + 0.2 is 0.3. A billionth of a dollar stays. */
function exact(amount: number): number {
  return Math.round(amount * 1e9) / 1e9;
}

/** The part of `all` that was not reported yet. */
export function rest(all: Usage, told: Usage): Usage | undefined {
  const left = AMOUNTS.flatMap((key) => {
    const amount = exact((all[key] ?? 0) - (told[key] ?? 0));
    return all[key] !== undefined && amount > 0 ? [[key, amount] as const] : [];
  });
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
