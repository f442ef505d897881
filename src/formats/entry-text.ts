import { indentOf, stripIndent } from './markdown.ts';

/** The parts of a numbered entry: `  12)  text`. */
const HEAD = /^([ \t]*)(\d{1,9})([.)])([ \t]*)/;

/** How the entries of a list are formatted. */
export interface EntryStyle {
  readonly indent: string;
  readonly delimiter: string;
  readonly space: string;
  readonly eol: string;
}

export function styleOf(source: string, eol: string): EntryStyle {
  const [, indent = '', , delimiter = '.', space = ''] = HEAD.exec(source) ?? [];
  return { indent, delimiter, space: /^ {1,4}$/.test(space) ? space : ' ', eol };
}

/**
 * The text of an entry without its marker and the common indentation of its lines, joined by
 * `\n`.
 */
export function entryText(source: string): string {
  const [first = '', ...rest] = splitText(source);
  const head = HEAD.exec(first)?.[0] ?? '';
  const indents = rest.filter((line) => line.trim() !== '').map(indentOf);
  // Text indented further than the first line (code, nested lists) keeps the difference.
  const shared = Math.min(indentOf(head.replace(/\S/g, ' ')), ...indents);
  return normalizeText([first.slice(head.length), ...rest.map((line) => stripIndent(line, shared))].join('\n'));
}

/** The reverse of `entryText`: `entryText(renderEntry(text, ...))` is the normalized text. */
export function renderEntry(text: string, number: number, style: EntryStyle): string {
  const head = `${style.indent}${number}${style.delimiter}${style.space}`;
  const white = style.indent + ' '.repeat(head.length - style.indent.length);
  const [first = '', ...rest] = splitText(normalizeText(text));
  return [head + first, ...rest.map((line) => (line === '' ? '' : white + line))].join(style.eol);
}

/** The same source with another number; undefined if the number has another width, which would move the text. */
export function renumberEntry(source: string, number: number): string | undefined {
  const [head, indent = '', old = '', delimiter = '', space = ''] = HEAD.exec(source) ?? [];
  if (head === undefined || old.length !== String(number).length) return undefined;
  return `${indent}${number}${delimiter}${space}${source.slice(head.length)}`;
}

export function normalizeText(text: string): string {
  return splitText(text).join('\n').trim();
}

function splitText(text: string): string[] {
  return text.split(/\r\n|\n|\r/);
}
