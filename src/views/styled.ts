import { cutTo, widthOf } from './text-width.ts';

/** How a part of a line is highlighted. The text alone must say the same, for readers without colours. */
type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export interface Span {
  readonly text: string;
  readonly style?: Style | undefined;
}

const CODES: Record<Style, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** A line of at most `width` columns. */
export function lineOf(spans: readonly Span[], width: number, colour: boolean): string {
  let left = width;
  let line = '';
  for (const { text, style } of spans) {
    const shown = cutTo(text, left);
    left -= widthOf(shown);
    line += colour && style && shown !== '' ? `\u001b[${CODES[style][0]}m${shown}\u001b[${CODES[style][1]}m` : shown;
    if (shown !== text) break;
  }
  return line;
}

/** Parts side by side, as many per line as fit. */
export function flow(parts: readonly Span[], width: number): Span[][] {
  const lines: Span[][] = [];
  let used = 0;
  for (const part of parts) {
    const more = widthOf(part.text);
    const last = lines.at(-1);
    if (last && used + SEPARATOR.text.length + more <= width) {
      last.push(SEPARATOR, part);
      used += SEPARATOR.text.length + more;
    } else {
      lines.push([part]);
      used = more;
    }
  }
  return lines;
}

const SEPARATOR: Span = { text: ' · ', style: 'dim' };
