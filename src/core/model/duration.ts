const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `90s`, `30m`, `2h`, `1h30m`, or a bare number of seconds; undefined if it is none of these or not positive. */
export function parseDuration(text: string, longest = LONGEST): number | undefined {
  const trimmed = text.trim();
  if (/^\d+$/.test(trimmed)) return positive(Number(trimmed) * 1000, longest);
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d)\s*)+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
    total += Number(amount) * UNITS[unit!]!;
  return positive(Math.round(total), longest);
}

/** A timer of Node holds 2^31 ms (24 days); a longer one would fire at once. */
const LONGEST = 2 ** 31 - 1;

function positive(milliseconds: number, longest: number): number | undefined {
  return milliseconds > 0 ? Math.min(milliseconds, longest) : undefined;
}

/** For people: `0.4s`, `12s`, `10m`, `3m 20s`, `2h 5m`. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `${Number(seconds.toFixed(1))}s`;
  if (seconds < 60) return `${Math.round(seconds)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, 'm', Math.floor(seconds % 60), 's');
  return two(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit} ${small}${smallUnit}`;
}
