import { createMask } from '../../text/mask.ts';

export type Metadata = Readonly<Record<string, string>>;

/** Finds secrets in texts, also in their usual encodings. */
export function createSecretFinder(secrets: readonly string[]): (text: string) => boolean {
  const mask = createMask(Object.fromEntries(secrets.entries()));
  // Too short to mask, but perhaps a PIN or a house number that only one row has.
  const distinctive = secrets.filter(isDistinctive).map(readable);
  return (text) => {
    if (mask.text(text) !== text) return true;
    const words = readable(text);
    return distinctive.some((secret) => holds(words, secret));
  };
}

/**
 * For each text that holds a value that only one row has: the column of the value. Reads the rows once for all texts,
 * because there may be a million. Values that `known` contains do not count.
 */
export function readRowValues(
  rows: Iterable<Metadata>,
  texts: readonly string[],
  known: string,
): ReadonlyMap<string, string> {
  const candidates = texts.map((text) => ({ text, readable: readable(text), found: new Map<string, number>() }));
  const byWord = new Map<string, typeof candidates>();
  for (const candidate of candidates) {
    for (const word of new Set(candidate.readable.toLowerCase().match(WORD))) {
      byWord.set(word, [...(byWord.get(word) ?? []), candidate]);
    }
  }
  const knownText = readable(known);
  for (const row of rows) {
    for (const column in row) {
      // The first word usually decides, and avoids searching the texts.
      const first = /[\p{L}\p{N}]+/u.exec(row[column]!)?.[0].toLowerCase();
      const possible = first === undefined ? undefined : byWord.get(first);
      if (possible === undefined || !isDistinctive(row[column]!)) continue;
      const value = readable(row[column]!);
      const holders = possible.filter(({ readable: text }) => value.length <= text.length && holds(text, value));
      if (holders.length === 0 || holds(knownText, value)) continue;
      const key = JSON.stringify([column, value]);
      for (const { found } of holders) found.set(key, (found.get(key) ?? 0) + 1);
    }
  }
  return new Map(
    candidates.flatMap(({ text, found }) => {
      const single = [...found].find(([, count]) => count === 1);
      return single ? [[text, (JSON.parse(single[0]) as [string])[0]] as const] : [];
    }),
  );
}

const WORD = /[\p{L}\p{N}]+/gu;

/** A single name must match its case: `Mark` is not `mark`. */
export function isName(value: string): boolean {
  return /^\p{L}+$/u.test(value);
}

/** A value that could identify a row; not `1`, `en` or `yes`. */
export function isDistinctive(value: string): boolean {
  const trimmed = value.trim();
  if (trimmed.length < 4) return false;
  if (trimmed.length < 12 && /^\p{Ll}+$/u.test(trimmed)) return false;
  return !(/^[-+]?[\d.]+$/.test(trimmed) && Math.abs(Number(trimmed)) < 1000);
}

/** Collapses white space: a value may be broken over lines in a text. */
export function readable(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** Whether a text contains a value as a whole word. */
export function holds(text: string, value: string): boolean {
  const [hay, needle] = isName(value) ? [text, value] : [text.toLowerCase(), value.toLowerCase()];
  const within = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}_]/u.test(character);
  for (let at = hay.indexOf(needle); at !== -1; at = hay.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    const continued = within(hay[at - 1]) && within(needle[0]);
    if (!continued && !(within(hay[end]) && within(needle.at(-1)))) return true;
  }
  return false;
}
