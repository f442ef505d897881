import { oneLine } from '../core/text/printable.ts';

const LONGEST_REASON = 160;

interface NamedRow {
  readonly row: number;
  readonly label?: string | undefined;
  /** Of a fleet. */
  readonly worker?: string | undefined;
}

/** `row 15 libgd-ocaml-dev on build-3`: the row as people count, its name and its worker if it has them. */
export function rowName({ row, label, worker }: NamedRow): string {
  return `row ${row}${labelText(label)}${workerText(worker)}`;
}

/** With a space before it. A journal may contain anything. */
export function labelText(label: unknown): string {
  return typeof label === 'string' && label !== '' ? ` ${oneLine(label, 60)}` : '';
}

/** ` on build-3`; empty without a fleet. */
export function workerText(worker: unknown): string {
  return typeof worker === 'string' && worker !== '' ? ` on ${oneLine(worker, 40)}` : '';
}

/** One line: the beginning says what failed, the end says why. `status` has all of it. */
export function shortReason(reason: string): string {
  const line = oneLine(reason, Number.POSITIVE_INFINITY);
  if (line.length <= LONGEST_REASON) return line;
  const head = LONGEST_REASON >> 1;
  return `${line.slice(0, head).trimEnd()} … ${line.slice(head + 3 - LONGEST_REASON).trimStart()}`;
}
