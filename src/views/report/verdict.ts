import type { Report } from '../../app/report/report.ts';
import { formatDuration } from '../../core/model/duration.ts';
import type { Counts } from '../../core/model/events.ts';
import { count } from '../../core/text/count.ts';

/** What happened, in one honest sentence. */
export function verdictOf({ status, account }: Report): string {
  const result = resultText(status.counts);
  if (status.running) return `${result} It is still running.`;
  const { end } = status.lastRun ?? {};
  if (!account) return `${result} It has not run yet.`;
  if (!end) return `${result} The last run was killed.`;
  const took = account.finished ? ` after ${formatDuration(account.finished.ms)}` : '';
  return `${result} The last run ended${took}: ${end.reason} (exit code ${end.exitCode}).`;
}

function resultText({ total, completed, failed, remaining }: Counts): string {
  if (total === 0) return 'The table has no items.';
  if (completed === total) return total === 1 ? 'The only item is done.' : `All ${total} items are done.`;
  const rest = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(remaining > 0 ? [`${remaining} ${remaining === 1 ? 'is' : 'are'} left`] : []),
  ];
  return `${completed} of ${count(total, 'item')} ${completed === 1 ? 'is' : 'are'} done, ${rest.join(', ')}.`;
}

/** What was spent, as far as it is known. */
export interface Money {
  readonly spent: string;
  /** Of the limit, if there is one. */
  readonly limit: string | undefined;
  /** For each item that is done. */
  readonly perItem: string | undefined;
}

/** Undefined if no agent reported a cost and there is no limit: then money was not part of it. */
export function moneyOf({ status }: Pick<Report, 'status'>): Money | undefined {
  const { usage, limits, counts } = status;
  const limit = limits['max-cost'];
  const { costUsd, unpricedTokens = 0, unreadCosts = 0 } = usage;
  const isUnknown = unpricedTokens > 0 || unreadCosts > 0;
  if (costUsd === undefined && limit === undefined && !isUnknown) return undefined;
  const known = dollars(costUsd ?? 0);
  return {
    spent: isUnknown ? (costUsd === undefined ? 'unknown' : `${known} and more`) : known,
    limit: limit === undefined ? undefined : dollars(limit),
    perItem: costUsd === undefined || counts.completed === 0 ? undefined : dollars(costUsd / counts.completed),
  };
}

export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 0.1 ? 4 : 2)}`;
}
