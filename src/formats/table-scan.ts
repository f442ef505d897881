import { NightshiftError } from '../core/model/errors.ts';
import { COMMA, CR, cellEnd, decodeCell, LF, lineAt, MAX_CELL_BYTES, mebibytes, QUOTE } from './table-bytes.ts';

export interface Scan {
  readonly header: readonly string[];
  /** The start of the header and of each row, and the end of the file. */
  readonly starts: Uint32Array;
  readonly gaps: Gaps;
}

/** The end of a row's source, for the few rows that are followed by blank lines. -1 is the header. */
export type Gaps = ReadonlyMap<number, number>;

/** More columns mean a file that lost its line breaks, not a table. */
export const MAX_COLUMNS = 2000;

/** The bytes that can end a run of plain text. A lookup is faster than four comparisons. */
const MARKS = new Uint8Array(256);
for (const mark of [COMMA, QUOTE, CR, LF]) MARKS[mark] = 1;

interface Source {
  readonly bytes: Buffer;
  readonly file: string;
  /** Empty while the header itself is scanned. */
  readonly header: readonly string[];
}

/** Finds the rows of a UTF-8 table and throws on anything that is not RFC 4180. Decodes only the header. */
export function scanTable(bytes: Buffer, file: string): Scan {
  const begin = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  if (begin === bytes.length) {
    throw new NightshiftError(
      'bad-table',
      'the table is empty: it has no header',
      'write the column names into its first line, separated by commas',
      { file, line: 1 },
    );
  }
  const firstRow = scanRow({ bytes, file, header: [] }, begin);
  const source = { bytes, file, header: readHeader(bytes, file, begin, firstRow) };
  let starts = new Uint32Array(1024);
  starts[0] = begin;
  let count = 1;
  const gaps = new Map<number, number>();
  const isWide = source.header.length > 1;
  for (let at = firstRow; at < bytes.length; ) {
    const next = isWide && MARKS[bytes[at]!] === 1 ? endOfBlank(bytes, at) : -1;
    if (next !== -1) {
      const row = count - 2;
      if (!gaps.has(row)) gaps.set(row, lineEnd(bytes, at));
      at = next;
      continue;
    }
    if (count + 1 >= starts.length) starts = grown(starts);
    starts[count++] = at;
    at = scanRow(source, at);
  }
  starts[count++] = bytes.length;
  return { header: source.header, starts: starts.slice(0, count), gaps };
}

/**
 * The start of the next line if this one has only commas, as spreadsheets leave them for emptied rows. Otherwise -1.
 */
function endOfBlank(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && bytes[at] === COMMA) at++;
  if (at === bytes.length || bytes[at] === LF) return Math.min(at + 1, bytes.length);
  return bytes[at] === CR && bytes[at + 1] === LF ? at + 2 : -1;
}

function grown(starts: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(starts.length * 2);
  larger.set(starts);
  return larger;
}

/** Checks the row that starts here and returns the start of the next. This loop sees every byte. */
function scanRow(source: Source, start: number): number {
  const { bytes } = source;
  const size = bytes.length;
  let at = start;
  for (let cells = 1; ; cells++) {
    const cell = at;
    if (at < size && bytes[at] === QUOTE) at = closeQuote(source, at);
    else while (at < size && MARKS[bytes[at]!] === 0) at++;
    if (at - cell > MAX_CELL_BYTES) throw longCell(source, cell, at, cells);
    const mark = at < size ? bytes[at] : LF;
    if (mark === COMMA) {
      at++;
    } else if (mark === LF || (mark === CR && bytes[at + 1] === LF)) {
      if (cells !== source.header.length && source.header.length > 0) throw ragged(source, start, cells);
      return Math.min(size, mark === LF ? at + 1 : at + 2);
    } else {
      throw misplaced(source, cell, at);
    }
  }
}

/** The position after the quote that closes the one at `open`. */
function closeQuote(source: Source, open: number): number {
  const { bytes } = source;
  const size = bytes.length;
  for (let at = open + 1; at < size; at++) {
    if (bytes[at] !== QUOTE) continue;
    if (at + 1 === size || bytes[at + 1] !== QUOTE) return at + 1;
    at++;
  }
  throw bad(
    source,
    open,
    'a quoted cell opens on this line and is never closed',
    'add the closing quote; a quote that is part of the text is written twice ("") in a cell that is quoted itself',
  );
}

function readHeader(bytes: Buffer, file: string, begin: number, next: number): string[] {
  const source = { bytes, file, header: [] };
  const limit = lineEnd(bytes, next);
  const names = new Map<string, number>();
  for (let at = begin; ; at++) {
    const end = cellEnd(bytes, at, limit);
    const name = decodeCell(bytes, at, end);
    const column = names.size + 1;
    if (name.trim() === '') {
      throw bad(source, at, `column ${column} has no name`, 'name it in the header, or remove the column');
    }
    const earlier = names.get(name);
    if (earlier !== undefined) {
      const message = `the header has "${name}" twice: columns ${earlier} and ${column}`;
      throw bad(source, at, message, 'rename or remove one of the two');
    }
    if (column > MAX_COLUMNS) {
      const message = `the header has more than ${MAX_COLUMNS} columns`;
      throw bad(source, at, message, 'check that the file has line breaks: the first line should have only names');
    }
    names.set(name, column);
    if (end >= limit) return [...names.keys()];
    at = end;
  }
}

/** The end of a row's text, given the start of the next row. */
export function lineEnd(bytes: Buffer, next: number): number {
  if (bytes[next - 1] !== LF) return next;
  return bytes[next - 2] === CR ? next - 2 : next - 1;
}

function ragged(source: Source, start: number, cells: number): NightshiftError {
  const expected = source.header.length;
  const hint =
    cells > expected
      ? 'put a cell that contains a comma into double quotes, or remove the extra cells'
      : 'add commas for the missing cells; they may be empty';
  const message = `this row has ${plural(cells, 'cell')}, but the header has ${plural(expected, 'column')}`;
  return bad(source, start, message, hint);
}

/** A quote or carriage return in the middle of things. */
function misplaced(source: Source, cell: number, at: number): NightshiftError {
  const { bytes } = source;
  if (bytes[at] === CR) {
    return bad(
      source,
      at,
      'there is a carriage return (CR) without its line feed (LF)',
      'save the table with Unix (LF) or Windows (CRLF) line endings, or put the cell into double quotes',
    );
  }
  if (bytes[cell] !== QUOTE) {
    return bad(
      source,
      at,
      'there is a double quote in the middle of a cell that is not quoted',
      'put the whole cell into double quotes and write the quote in it twice: "5"" pipe"',
    );
  }
  const opened = lineAt(bytes, cell);
  const where =
    opened === lineAt(bytes, at) ? '' : `; the cell opens in line ${opened}, and its own closing quote may be missing`;
  return bad(
    source,
    at,
    'there is text between the closing quote of a cell and the next comma',
    `a quote that is part of the text is written twice ("")${where}`,
  );
}

function longCell(source: Source, start: number, end: number, column: number): NightshiftError {
  const name = source.header[column - 1];
  const where = name === undefined ? `column ${column}` : `column "${name}"`;
  const hint =
    source.bytes[start] === QUOTE
      ? 'check its closing quote; write long texts to files and put their names into the table'
      : 'write long texts to files and put their names into the table';
  return bad(source, start, `there is a cell of ${mebibytes(end - start)} in ${where}; the limit is 1 MiB`, hint);
}

function bad(source: Source, position: number, message: string, hint: string): NightshiftError {
  return new NightshiftError('bad-table', message, hint, { file: source.file, line: lineAt(source.bytes, position) });
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
