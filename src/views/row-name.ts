import { oneLine } from '../core/text/printable.ts';

const LONGEST_REASON = 160;

/** `row 15 libgd-ocaml-dev`: the row as people count, and its name if it has one. */
export function rowName({ row, label }: { readonly row: number; readonly label?: string | undefined }): string {
  return `row ${row}${labelText(label)}`;
}

/** With a space before it. A journal may contain anything. */
export function labelText(label: unknown): string {
  return typeof label === 'string' && label !== '' ? ` ${oneLine(label, 60)}` : '';
}

/** One line: the beginning says what failed, the end says why. `status` has all of it. */
export function shortReason(reason: string): string {
  const line = oneLine(reason, Number.POSITIVE_INFINITY);
  if (line.length <= LONGEST_REASON) return line;
  const head = LONGEST_REASON >> 1;
  return `${line.slice(0, head).trimEnd()} … ${line.slice(head + 3 - LONGEST_REASON).trimStart()}`;
}
