const SECONDS = { s: 1, m: 60, h: 3600 };

/** The seconds of "90s", "1h30m" or "45". Throws a RangeError for anything else. */
export function seconds(text) {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+[smh])+$/.test(text)) throw new RangeError(`not a duration: ${text}`);
  return [...text.matchAll(/(\d+)([smh])/g)].reduce((sum, [, count, unit]) => sum + count * SECONDS[unit], 0);
}
