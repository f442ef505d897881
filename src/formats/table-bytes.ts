import { NightshiftError } from '../core/model/errors.ts';
import { LARGEST_CELL } from '../core/model/model.ts';

/** The grammar of one RFC 4180 cell, on bytes. All of its marks are ASCII, so UTF-8 text never looks like one. */

export const COMMA = 0x2c;
export const QUOTE = 0x22;
export const LF = 0x0a;
export const CR = 0x0d;

/** Of a cell's source. A longer cell is nearly always an unclosed quote, and would not fit into a prompt. */
export const MAX_CELL_BYTES = LARGEST_CELL;

/** Rows are found by 32-bit offsets, which take half the memory of doubles. */
const MAX_TABLE_BYTES = 0xffff_ffff;

/** The end of the cell that starts here: its comma, or `limit`, the end of its row. Only for scanned bytes. */
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

/** The start of a cell in the source of its row. Only for scanned bytes. */
export function cellStart(bytes: Buffer, start: number, limit: number, column: number): number {
  let at = start;
  for (let skipped = 0; skipped < column; skipped++) at = cellEnd(bytes, at, limit) + 1;
  return at;
}

export function decodeCell(bytes: Buffer, start: number, end: number): string {
  if (bytes[start] !== QUOTE || start === end) return bytes.toString('utf8', start, end);
  return bytes.toString('utf8', start + 1, end - 1).replaceAll('""', '"');
}

/**
 * The start of a cell, found from the end of its row: status columns are mostly the last ones. -1 if a quoted cell is
 * in the way, because only from the start is it clear where that begins. `behind`: how many cells follow.
 */
export function cellStartFromEnd(bytes: Buffer, start: number, limit: number, behind: number): number {
  let at = limit;
  for (let passed = 0; ; passed++) {
    if (at > start && bytes[at - 1] === QUOTE) return -1;
    while (at > start && bytes[at - 1] !== COMMA) at--;
    if (passed === behind) return at;
    at--;
  }
}

const FNV_START = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** A hash (FNV-1a) of the decoded text of the chosen cells of a row, each with its end. Sees every byte once. */
export function hashCells(bytes: Buffer, start: number, limit: number, isChosen: readonly boolean[]): number {
  const last = isChosen.lastIndexOf(true);
  let hash = FNV_START;
  for (let at = start, column = 0; column <= last; column++, at++) {
    if (!isChosen[column]) {
      at = cellEnd(bytes, at, limit);
      continue;
    }
    const isQuoted = at < limit && bytes[at] === QUOTE;
    for (at += isQuoted ? 1 : 0; at < limit; at++) {
      const byte = bytes[at]!;
      if (isQuoted ? byte === QUOTE && bytes[++at] !== QUOTE : byte === COMMA) break;
      hash = Math.imul(hash ^ byte, FNV_PRIME);
    }
    hash = Math.imul(hash ^ COMMA, FNV_PRIME);
  }
  return hash >>> 0;
}

/**
 * The source of a cell. An empty one is `""` if it would be alone in its row, because most readers skip a blank line.
 * Rejects what `parseTable` would reject, so that Nightshift never writes a table that it can't read.
 */
export function encodeCell(value: string, column: string, style: { quoted?: boolean; alone?: boolean } = {}): string {
  // A byte order mark is quoted, because at the beginning of a file it would not be read as text.
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
      'write binary content to a file and put the name of the file into the table',
    );
  }
  return source;
}

/** Before anything is allocated or read. */
export function checkTableSize(size: number, file?: string): void {
  if (size <= MAX_TABLE_BYTES) return;
  throw new NightshiftError(
    'bad-table',
    'the table is larger than 4 GiB, the most that Nightshift supports',
    'split it into several shifts, or move long texts into files and keep only their names in the table',
    file === undefined ? {} : { file },
  );
}

/** 1-based, as in editors; a line break inside quotes counts. Computed each time, because only errors need it. */
export function lineAt(bytes: Buffer, position: number): number {
  let line = 1;
  for (let at = bytes.indexOf(LF); at !== -1 && at < position; at = bytes.indexOf(LF, at + 1)) line++;
  return line;
}

/** Rounded up, so that a size above a limit also reads as above it. */
export function mebibytes(size: number): string {
  return `${Math.ceil((size / 1024 / 1024) * 10) / 10} MiB`;
}
