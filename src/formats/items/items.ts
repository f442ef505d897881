import { NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { parseTable, removeRows, type Table } from '../table.ts';
import { COMMA, CR, checkTableSize, LF, lineAt } from '../table-bytes.ts';
import { checkEncoding } from '../table-encoding.ts';
import { JSON_ITEMS, jsonKindOf, parseJsonItems, refuseJsonValue } from './json-items.ts';
import { refuseOtherFile } from './other-files.ts';
import { parseSeparatedItems, SEMICOLON, separatorOf, TAB } from './separated-items.ts';

type ItemsFormat = 'CSV' | 'CSV with semicolons' | 'TSV' | 'JSON' | 'JSON lines';

/** Items from outside of a shift, as a table. */
export interface Items {
  readonly table: Table;
  readonly format: ItemsFormat;
}

type NamedFormat = 'CSV' | 'TSV' | 'JSON';

const BY_ENDING: Readonly<Record<string, NamedFormat>> = {
  ...({ csv: 'CSV', tsv: 'TSV', tab: 'TSV' } as const),
  ...({ json: 'JSON', jsonl: 'JSON', ndjson: 'JSON' } as const),
};

/**
 * Reads CSV (with commas, semicolons or tabs), a JSON array of objects, or JSON lines. The content decides which it is.
 * If the name of the file says something else, or the content is no table at all, throws `bad-table` with what it is.
 */
export function parseItems(bytes: Buffer, file: string): Items {
  refuseOtherFile(bytes, file);
  checkTableSize(bytes.length, file);
  checkEncoding(bytes, file, 'save the table as CSV (UTF-8), or give a file in CSV, TSV, JSON or JSON lines');
  const start = contentStart(bytes);
  const named = BY_ENDING[/\.(\w+)$/.exec(file)?.[1]?.toLowerCase() ?? ''];
  const kind = jsonKindOf(bytes, start);
  if (kind !== undefined) {
    const format = kind === 'array' ? 'JSON' : 'JSON lines';
    if (named === 'CSV' || named === 'TSV') throw misnamed(bytes, file, format, named);
    return { table: parseJsonItems(bytes, file, start), format };
  }
  if (named === 'JSON') throw notJson(bytes, file, start);
  if (named === undefined) refuseJsonValue(bytes, file, start);
  const separator = separatorOf(bytes, start, named === 'TSV' ? TAB : COMMA);
  if (separator === COMMA) return { table: parseCommas(bytes, file, start), format: 'CSV' };
  const table = parseSeparatedItems({ bytes, file, separator }, start);
  return { table, format: separator === SEMICOLON ? 'CSV with semicolons' : 'TSV' };
}

/** How many rows there are and the names of the columns, in words. */
export function describeItems({ table, format }: Items): string {
  const { header, rowCount } = table;
  const listed = header.slice(0, COLUMNS_SHOWN).join(', ');
  const more = header.length > COLUMNS_SHOWN ? ` and ${header.length - COLUMNS_SHOWN} more` : '';
  const how = format === 'CSV' ? '' : ` (${format})`;
  return `${count(rowCount, 'row')}, ${header.length === 1 ? 'column' : 'columns'}: ${listed}${more}${how}`;
}

const COLUMNS_SHOWN = 12;

/** After a byte order mark and blank lines. */
function contentStart(bytes: Buffer): number {
  let start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] === LF) start = at + 1;
    else if (bytes[at] !== CR && bytes[at] !== 0x20 && bytes[at] !== TAB) return firstVisible(bytes, start, at);
  }
  return bytes.length;
}

/** A tab at the beginning of a header is a nameless column; spaces before JSON are nothing. */
function firstVisible(bytes: Buffer, start: number, visible: number): number {
  return bytes[visible] === 0x5b || bytes[visible] === 0x7b ? visible : start;
}

/** Keeps the bytes as they are, except for blank lines that would not be read, or be read as rows. */
function parseCommas(bytes: Buffer, file: string, start: number): Table {
  const skipped = lineAt(bytes, start) - 1;
  const table = skipped === 0 ? parseTable(bytes, file) : parseBelow(bytes.subarray(start), file, skipped);
  if (table.header.length > 1) return table;
  const empty = Array.from({ length: table.rowCount }, (_, row) => row).filter((row) => {
    return table.rowBytes(row).length === 0;
  });
  return removeRows(table, new Set(empty));
}

/** `skipped`: how many lines of the file are above. */
function parseBelow(bytes: Buffer, file: string, skipped: number): Table {
  try {
    return parseTable(bytes, file);
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.line === undefined) throw error;
    throw new NightshiftError(error.code, error.message, error.hint, { file, line: error.line + skipped });
  }
}

function misnamed(bytes: Buffer, file: string, format: 'JSON' | 'JSON lines', named: NamedFormat): NightshiftError {
  const better = file.replace(/\.\w+$/, format === 'JSON' ? '.json' : '.jsonl');
  const name = better.split('/').at(-1);
  const line = lineAt(bytes, contentStart(bytes));
  return new NightshiftError('bad-table', `this is ${format}, not ${named}`, `rename it to ${name}`, { file, line });
}

function notJson(bytes: Buffer, file: string, start: number): NightshiftError {
  if (start === bytes.length) return new NightshiftError('bad-table', 'the file is empty', undefined, { file });
  const hint = `${JSON_ITEMS}; rename the file if it is CSV`;
  const line = lineAt(bytes, start);
  return new NightshiftError('bad-table', 'this is not JSON: it begins with neither [ nor {', hint, { file, line });
}
