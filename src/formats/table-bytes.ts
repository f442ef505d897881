import { NightshiftError } from '../core/model/errors.ts';
import { LARGEST_CELL } from '../core/model/model.ts';

/** The grammar of one cell of RFC 4180, on bytes. All of its marks are ASCII, so UTF-8 text never looks like one. */

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const LF = 0x0a;
export const CR = 0x0d;

/** Of a cell's source. Longer ones are nearly always a quote that was not closed, and no prompt could carry them. */
export const MAX_CELL_BYTES = LARGEST_CELL;

/** Rows are found by 32-bit offsets: half the memory of doubles, and a table of 4 GiB is far beyond any night. */
const MAX_TABLE_BYTES = 0xffff_ffff;

/** Where the cell that starts here ends: at its comma or at `limit`, the end of its row. Only for bytes that were scanned. */
export function cellEnd(bytes: Buffer, start: number, limit: number): number {
  let at = start;
  if (bytes[at] !== QUOTE) {
    while (at < limit && bytes[at] !== COMMA) at++;
    return at;
  }
  at++;
  while (at < limit) {
    if (bytes[at] !== QUOTE) at++;
    else if (bytes[at + 1] === QUOTE) at += 2;
    else return at + 1;
  }
  return limit;
}

/** Where a cell starts, in the source of its row. Only for bytes that were scanned. */
export function cellStart(bytes: Buffer, start: number, limit: number, column: number): number {
  let at = start;
  for (let skipped = 0; skipped < column; skipped++) at = cellEnd(bytes, at, limit) + 1;
  return at;
}

export function decodeCell(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== QUOTE || start === end) return bytes.toString('utf8', start, end);
  return bytes.toString('utf8', start + 1, end - 1).replaceAll('""', '"');
}

export const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Goes on with a hash (FNV-1a) of the text that the cell would be decoded to, and of its end. */
export function hashCell(bytes: Buffer, start: number, end: number, before: number): number {
  const quoted = start < end && bytes[start] === QUOTE;
  let hash = before;
  for (let at = quoted ? start + 1 : start; at < (quoted ? end - 1 : end); at++) {
    hash = Math.imul(hash ^ bytes[at]!, FNV_PRIME);
    if (quoted && bytes[at] === QUOTE) at++;
  }
  return Math.imul(hash ^ COMMA, FNV_PRIME);
}

/**
 * The source of a cell. An empty one is `""` where it would be alone in its row: a blank line is no row to most readers.
 * Refuses what `parseTable` would refuse, so that Nightshift never writes a table that it can't read.
 */
export function encodeCell(value: string, column: string, style: { quoted?: boolean; alone?: boolean } = {}): string {
  // A byte order mark is quoted because at the beginning of a file it would not be read as text.
  const quoted = style.quoted || (style.alone && value === '') || /[",\r\n]|^\uFEFF/.test(value);
  const source = quoted ? `"${value.replaceAll('"', '""')}"` : value;
  const size = Buffer.byteLength(source);
  if (size > MAX_CELL_BYTES) {
    throw new NightshiftError(
      'bad-table',
      `a value of ${mebibytes(size)} is too long for column "${column}": a cell may have 1 MiB`,
      'write the text to a file and put the name of the file into the table',
    );
  }
  if (value.includes('\0')) {
    throw new NightshiftError(
      'bad-table',
      `a value for column "${column}" contains a NUL character, which a table can't hold`,
      'binary content belongs into a file; put the name of the file into the table',
    );
  }
  return source;
}

/** Before anything is allocated or read. */
export function checkTableSize(size: number, file?: string): void {
  if (size <= MAX_TABLE_BYTES) return;
  throw new NightshiftError(
    'bad-table',
    'the table is larger than 4 GiB, the most that Nightshift can work on',
    'split it into several shifts, or move long texts into files and keep only their names in the table',
    file === undefined ? {} : { file },
  );
}

/** 1-based, as editors count: a line end inside quotes is a line end too. Counted anew each time, since only errors ask. */
export function lineAt(bytes: Buffer, position: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at !== -1 && at < position; at = bytes.indexOf(LF, at + 1)) line++;
  return line;
}

/** Rounded up, so that what is over a limit also reads as being over it. */
export function mebibytes(size: number): string {
  return `${Math.ceil((size / 1024 / 1024) * 10) / 10} MiB`;
}
