import { holds, isDistinctive, isName, type Metadata, readable } from './row-values.ts';

/** A text, and the metadata of the row that it comes from. */
export interface RowText {
  readonly text: string;
  readonly metadata: Metadata;
}

/**
 * The texts, with the distinctive values of their rows turned back into placeholders. A value stays if several rows
 * have it (`Germany` may be meant), or two columns of its row (either could be meant). Reads the rows once.
 */
export function generalise(texts: readonly RowText[], rows: Iterable<Metadata>): string[] {
  const own = texts.map(({ text, metadata }) => ownColumns(text, metadata));
  const counts = countRows(
    texts.flatMap(({ metadata }, index) => own[index]!.map((column) => keyOf(metadata, column))),
    rows,
  );
  return texts.map(({ text, metadata }, index) => {
    const columns = own[index]!.filter((column) => (counts.get(keyOf(metadata, column)) ?? 0) <= 1);
    return replaceValues(text, metadata, columns);
  });
}

/** The columns whose value is in the text, the longest values first. */
function ownColumns(text: string, metadata: Metadata): string[] {
  const value = (column: string) => readable(metadata[column]!);
  const isShared = (column: string) =>
    Object.keys(metadata).some(
      (other) => other !== column && value(other).toLowerCase() === value(column).toLowerCase(),
    );
  return Object.keys(metadata)
    .filter((column) => isDistinctive(value(column)) && holds(readable(text), value(column)) && !isShared(column))
    .sort((a, b) => value(b).length - value(a).length);
}

function keyOf(metadata: Metadata, column: string): string {
  return JSON.stringify([column, readable(metadata[column]!)]);
}

function countRows(keys: readonly string[], rows: Iterable<Metadata>): ReadonlyMap<string, number> {
  const counts = new Map(keys.map((key) => [key, 0]));
  if (counts.size === 0) return counts;
  const columns = new Set(keys.map((key) => (JSON.parse(key) as [string])[0]));
  for (const row of rows) {
    for (const column of columns) {
      const key = column in row ? keyOf(row, column) : undefined;
      if (key !== undefined && counts.has(key)) counts.set(key, counts.get(key)! + 1);
    }
  }
  return counts;
}

function replaceValues(text: string, metadata: Metadata, columns: readonly string[]): string {
  // A placeholder is not searched again: a later value could be a part of its name.
  let parts: readonly string[] = text.split(/(\{[^{}\s]*\})/);
  for (const column of columns) {
    const pattern = patternOf(metadata[column]!);
    parts = parts.flatMap((part) =>
      part.startsWith('{') ? [part] : part.replace(pattern, () => `\0{${column}}\0`).split('\0'),
    );
  }
  return parts.join('');
}

function patternOf(value: string): RegExp {
  const words = readable(value)
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replaceAll(' ', '\\s+');
  const [before, behind] = [/^[\p{L}\p{N}_]/u, /[\p{L}\p{N}_]$/u].map((edge) => edge.test(value.trim()));
  const whole = `${before ? '(?<![\\p{L}\\p{N}_])' : ''}${words}${behind ? '(?![\\p{L}\\p{N}_])' : ''}`;
  return new RegExp(whole, isName(value.trim()) ? 'gu' : 'giu');
}

/** The text with absolute paths below a folder as paths from there: an agent may name the same file either way. */
export function fromFolder(text: string, folder: string): string {
  if (folder === '' || folder === '/') return text;
  return text.split(`${folder}/`).reduce((before, rest) => {
    // Another folder may end like this one, and `..` would lead out of it.
    const isWhole = !/[\p{L}\p{N}_./~-]$/u.test(before) && /^[\p{L}\p{N}_{]/u.test(rest);
    return isWhole ? before + rest : `${before}${folder}/${rest}`;
  });
}
