import type { Line } from './markdown.ts';
import { headingOf, indentOf } from './markdown.ts';

/** An entry of a list, with all its lines. */
export interface Item {
  /** `1.`, `2)` or `-`. */
  readonly marker: string;
  /** The offset of the text after the marker in the first line. */
  readonly content: number;
  /** From the line of the marker to the last line of the entry. */
  readonly lines: readonly Line[];
}

export type ListKind = 'numbered' | 'bullets';

const MARKER = /^([ \t]*)(\d{1,9}[.)]|[-*+])(?=[ \t]|$)/;
const THEMATIC_BREAK = /^[ \t]*([-*])(?:[ \t]*\1){2,}[ \t]*$/;
/** A line that is indented by this many columns more than the marker is inside the entry. */
const NESTED = 2;

/**
 * The entries of one kind in a section. More lenient than CommonMark: a fenced block belongs to the entry above it,
 * indented or not, and so do unindented markers of the other kind.
 */
export function listItems(lines: readonly Line[], kind: ListKind): Item[] {
  const starts: { index: number; marker: string; indent: number }[] = [];
  for (const [index, line] of lines.entries()) {
    const marker = markerOf(line.active);
    if (marker === undefined || marker.kind !== kind) continue;
    const above = starts.at(-1);
    if (above === undefined || marker.indent < above.indent + NESTED) starts.push({ index, ...marker });
  }
  return starts.map(({ index, marker, indent }, i) => {
    const reach = lines.slice(index, starts[i + 1]?.index);
    return { marker, content: contentOf(reach[0]!), lines: reach.slice(0, lengthOf(reach, indent)) };
  });
}

function markerOf(active: string): { kind: ListKind; marker: string; indent: number } | undefined {
  const [, white, marker] = MARKER.exec(active) ?? [];
  if (white === undefined || marker === undefined || THEMATIC_BREAK.test(active)) return undefined;
  return { kind: /^\d/.test(marker) ? 'numbered' : 'bullets', marker, indent: indentOf(active) };
}

function contentOf(line: Line): number {
  const marker = MARKER.exec(line.active)![0].length;
  const space = /^[ \t]*/.exec(line.text.slice(marker))![0].length;
  return marker + space < line.text.length ? marker + space : Math.min(marker + 1, line.text.length);
}

/**
 * How many of the lines up to the next entry belong to this one. Trailing blank lines and unindented comments do not,
 * nor does an unindented paragraph after a blank line, unless a fenced block follows.
 */
function lengthOf(lines: readonly Line[], indent: number): number {
  let length = 1;
  let apart = false;
  for (const [index, line] of lines.entries()) {
    if (index === 0) continue;
    const silent = line.active.trim() === '' && line.block === undefined;
    const inside = indentOf(line.text) >= indent + NESTED && line.text.trim() !== '';
    if (inside || line.block !== undefined) apart = false;
    else if (silent || headingOf(line.active) !== undefined) apart = true;
    else if (markerOf(line.active) !== undefined) apart = false;
    if (!apart) length = index + 1;
  }
  return length;
}

/** The first line of an entry, without comments. */
export function headOf(item: Item): string {
  return item.lines[0]!.active.slice(item.content).trim();
}

/** Only a marker, white space and comments. */
export function isEmpty(item: Item): boolean {
  return (
    headOf(item) === '' &&
    item.lines.every((line, index) => line.block === undefined && (index === 0 || line.active.trim() === ''))
  );
}
