import { NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { createTable, type Table } from '../table.ts';
import { COMMA, CR, decodeCell, LF, lineAt, QUOTE } from '../table-bytes.ts';

export const TAB = 0x09;
export const SEMICOLON = 0x3b;
export type Separator = typeof COMMA | typeof TAB | typeof SEMICOLON;

const NOUNS: Record<Separator, string> = { [COMMA]: 'comma', [TAB]: 'tab', [SEMICOLON]: 'semicolon' };

/**
 * What separates the columns: what gives the header and the first row the same number of cells, and most of them. A
 * decimal comma, or one in a name, is not taken for a separator then.
 */
export function separatorOf(bytes: Buffer, start: number, preferred: Separator = COMMA): Separator {
  const others = ([COMMA, TAB, SEMICOLON] as const).filter((each) => each !== preferred);
  const candidates = [preferred, ...others].map((separator) => ({ separator, ...widths(bytes, start, separator) }));
  const wide = candidates.filter(({ header }) => header > 1);
  const agreed = wide.filter(({ header, row }) => row === undefined || row === header);
  const [best] = (agreed.length > 0 ? agreed : wide).toSorted((a, b) => b.header - a.header);
  return best?.separator ?? preferred;
}

function widths(bytes: Buffer, start: number, separator: Separator): { header: number; row: number | undefined } {
  const records = recordsIn(bytes, start, separator);
  return { header: records.next().value?.ends.length ?? 0, row: records.next().value?.ends.length };
}

interface Source {
  readonly bytes: Buffer;
  readonly file: string;
  readonly separator: Separator;
}

/** A table whose columns are separated by tabs or semicolons. Otherwise it is like CSV. */
export function parseSeparatedItems(source: Source, start: number): Table {
  const rows: string[][] = [];
  for (const record of recordsIn(source.bytes, start, source.separator)) {
    const cells = readCells(source, record);
    const header = rows[0] ?? cells;
    if (cells.length !== header.length) throw ragged(source, record, header.length);
    rows.push(cells);
  }
  const [header = [], ...items] = rows;
  return createTable(header, items, source.file);
}

interface SeparatedRecord {
  readonly start: number;
  /** The ends of its cells. */
  readonly ends: readonly number[];
}

/** The lines that have more than separators. A quoted cell may have line breaks. */
function* recordsIn(bytes: Buffer, from: number, separator: Separator): Generator<SeparatedRecord> {
  for (let at = from; at < bytes.length; ) {
    const start = at;
    const ends: number[] = [];
    let isBlank = true;
    for (;;) {
      const end = cellEndAt(bytes, at, separator);
      const isLast = end >= bytes.length || bytes[end] === LF;
      const textEnd = isLast && bytes[end - 1] === CR && end > at ? end - 1 : end;
      if (textEnd > at) isBlank = false;
      ends.push(textEnd);
      at = end + 1;
      if (isLast) break;
    }
    if (!isBlank) yield { start, ends };
  }
}

function cellEndAt(bytes: Buffer, start: number, separator: Separator): number {
  let at = start;
  if (bytes[at] === QUOTE) {
    for (at++; at < bytes.length; at++) {
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) break;
      at++;
    }
  }
  while (at < bytes.length && bytes[at] !== separator && bytes[at] !== LF) at++;
  return at;
}

function readCells({ bytes, file, separator }: Source, { start, ends }: SeparatedRecord): string[] {
  let at = start;
  return ends.map((end) => {
    const begin = at;
    at = end + 1;
    if (bytes[begin] !== QUOTE || begin === end) return bytes.toString('utf8', begin, end);
    const inner = bytes.toString('latin1', begin + 1, end - 1).replaceAll('""', '');
    if (end - begin >= 2 && bytes[end - 1] === QUOTE && !inner.includes('"')) return decodeCell(bytes, begin, end);
    const message = `the quotes of a cell do not end at the next ${NOUNS[separator]}`;
    const hint = 'close the quote; one that is part of the text is written twice ("") in a cell that is quoted itself';
    throw new NightshiftError('bad-table', message, hint, { file, line: lineAt(bytes, begin) });
  });
}

function ragged({ bytes, file, separator }: Source, { start, ends }: SeparatedRecord, columns: number): Error {
  const message = `this row has ${count(ends.length, 'cell')}, but the header has ${count(columns, 'column')}`;
  const noun = NOUNS[separator];
  const fix = ends.length > columns ? `put a cell that contains a ${noun} into double quotes` : 'add the missing cells';
  const hint = `${fix} (the columns are separated by ${noun}s)`;
  return new NightshiftError('bad-table', message, hint, { file, line: lineAt(bytes, start) });
}
