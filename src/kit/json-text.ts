/** Edits JSON as text: adds and removes entries, and keeps every other byte. */

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  readonly kind: 'object' | 'array' | 'other';
  readonly entries: readonly JsonEntry[];
}

/** `start`: of the key in an object, of the value in an array. */
interface JsonEntry {
  readonly start: number;
  readonly key: string;
  readonly value: JsonNode;
}

/** The value that begins at or after `from`. Only for valid JSON. */
export function scan(text: string, from = 0): JsonNode {
  const start = skip(text, from);
  const kind = text[start] === '{' ? 'object' : text[start] === '[' ? 'array' : 'other';
  if (kind === 'other') return { start, end: start + SCALAR.exec(text.slice(start))![0].length, kind, entries: [] };
  const entries: JsonEntry[] = [];
  let at = skip(text, start + 1);
  while (text[at] !== '}' && text[at] !== ']') {
    const key = kind === 'object' ? SCALAR.exec(text.slice(at))![0] : undefined;
    // A colon follows a key.
    const value = scan(text, key === undefined ? at : skip(text, at + key.length) + 1);
    entries.push({ start: at, key: key === undefined ? '' : (JSON.parse(key) as string), value });
    at = skip(text, value.end);
    if (text[at] === ',') at = skip(text, at + 1);
  }
  return { start, end: at + 1, kind, entries };
}

const SCALAR = /^(?:"(?:[^"\\]|\\.)*"|[^\s,\]}:"]+)/;

function skip(text: string, from: number): number {
  let at = from;
  while (/[\s\uFEFF]/.test(text[at] ?? '')) at++;
  return at;
}

/** The formatting of a file. */
export interface Layout {
  readonly indent: string;
  readonly newline: string;
}

export function layoutOf(text: string): Layout {
  return {
    indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
    newline: text.includes('\r\n') ? '\r\n' : '\n',
  };
}

/** Indents the lines after the first by `depth`. */
export function render(value: unknown, depth: number, { indent, newline }: Layout): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', `${newline}${indent.repeat(depth)}`);
}

/**
 * Adds the last entry. An empty container gets a space after its bracket and no line break, so that `without` can
 * tell it from one that was added with its first entry.
 */
export function withEntry(text: string, { start, end, entries }: JsonNode, entry: string): string {
  const last = entries.at(-1);
  if (last === undefined) return `${text.slice(0, start + 1)} ${entry}${text.slice(start + 1)}`;
  const before = text.slice(start + 1, entries[0]!.start);
  const gap = before.includes('\n') ? before : ' ';
  return `${text.slice(0, last.value.end)},${gap}${entry}${text.slice(last.value.end, end)}${text.slice(end)}`;
}

/** Nothing if the container was added for its entries and is now empty. */
export function withoutEntry(text: string, { start, entries }: JsonNode, at: number): string | undefined {
  const { start: from, value } = entries[at]!;
  if (entries.length === 1) {
    const wasEmpty = text.slice(start + 1, from) === ' ';
    return wasEmpty ? text.slice(0, start + 1) + text.slice(value.end) : undefined;
  }
  const before = entries[at - 1];
  return before === undefined
    ? text.slice(0, from) + text.slice(entries[at + 1]!.start)
    : text.slice(0, before.value.end) + text.slice(value.end);
}
