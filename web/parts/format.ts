import { formatDuration } from '../../src/core/model/duration.ts';
import type { Usage } from '../../src/core/model/model.ts';
import { localTime } from '../../src/core/text/local-time.ts';
import { now, today } from '../state/clock.ts';

/** `100,000`. */
export function wholeNumber(value: number): string {
  return value.toLocaleString('en-US');
}

/** `1 row`, `100,000 rows`. */
export function amount(value: number, noun: string): string {
  return `${wholeNumber(value)} ${noun}${value === 1 ? '' : 's'}`;
}

export function dollars(value: number): string {
  return `$${value.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}

/** Undefined if no agent has reported a cost; an unknown cost is not 0. */
export function costText({ costUsd, unpricedTokens = 0, unreadCosts = 0 }: Usage): string | undefined {
  const isUnknown = unpricedTokens > 0 || unreadCosts > 0;
  if (costUsd === undefined) return isUnknown ? 'cost unknown' : undefined;
  return isUnknown ? `${dollars(costUsd)} and more` : dollars(costUsd);
}

/** Local and short, as in the terminal. */
export function timeText(time: string | number): string {
  return localTime(time, today.value);
}

export function durationText(ms: number): string {
  return formatDuration(ms < 10_000 ? ms : Math.round(ms / 1000) * 1000);
}

/** Whole seconds, for a duration that goes on. */
export function elapsedText(since: string): string {
  return formatDuration(Math.max(0, Math.floor((now.value - Date.parse(since)) / 1000)) * 1000);
}

/** `about 06:10`, or `between 06:10 and 06:40`. */
export function finishText({ earliest, latest }: { readonly earliest: string; readonly latest: string }): string {
  const [from, to] = [timeText(earliest), timeText(latest)];
  return from === to ? `about ${from}` : `between ${from} and ${to}`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
