import { NightshiftError } from '../../core/model/errors.ts';
import { createTable, type Table } from '../table.ts';
import { COMMA, LF, lineAt, QUOTE } from '../table-bytes.ts';

const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT, BACKSLASH] = [0x5b, 0x5d, 0x7b, 0x7d, 0x5c];

/** Whether a text is a JSON array, JSON objects one after the other, or neither. `start`: its first visible byte. */
export function jsonKindOf(bytes: Buffer, start: number): 'array' | 'objects' | undefined {
  const at = skipSpace(bytes, start + 1);
  // A header in CSV may begin with a bracket, but not with what begins a JSON value. Nothing else: JSON that was cut.
  const next = bytes.toString('latin1', at, at + LONGEST_WORD + 1);
  if (bytes[start] === OPEN_OBJECT && /^(?:$|["}])/.test(next)) return 'objects';
  return bytes[start] === OPEN_LIST && /^(?:$|[\]{["\d-]|(?:null|true|false)\b)/.test(next) ? 'array' : undefined;
}

const LONGEST_WORD = 'false'.length;

/** Throws for a text that is one JSON string, number or word. As CSV it would be a header without rows. */
export function refuseJsonValue(bytes: Buffer, file: string, start: number): void {
  const end = bytes.indexOf(LF, start);
  if (end !== -1 && skipSpace(bytes, end) < bytes.length) return;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8', start));
  } catch {
    return;
  }
  throw bad(bytes, file, start, `this is JSON, but it is ${kindOf(value)}, not a list of items`, JSON_ITEMS);
}

export const JSON_ITEMS = 'JSON items are an array of objects, or one object per line';

/**
 * The objects of a JSON array, of JSON lines, or written one after the other in any layout. The columns are the keys,
 * in the order in which they first appear. A missing key and `null` are an empty cell; a list or an object is JSON text.
 */
export function parseJsonItems(bytes: Buffer, file: string, start: number): Table {
  const columns = new Map<string, number>();
  const rows: string[][] = [];
  for (const span of valuesIn(bytes, file, start)) {
    const object = readObject(bytes, file, span, rows.length + 1);
    const cells: string[] = [];
    for (const [key, value] of Object.entries(object)) {
      if (!columns.has(key)) columns.set(key, columns.size);
      cells[columns.get(key)!] = cellText(value);
    }
    rows.push(cells);
  }
  if (columns.size === 0) {
    throw new NightshiftError('nothing-to-do', 'there are no items', 'write at least one: [{"name": "a"}]', { file });
  }
  const header = [...columns.keys()];
  return createTable(
    header,
    rows.map((cells) => header.map((_, column) => cells[column] ?? '')),
    file,
  );
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Each value on its own: a text of any size is never one string. */
function* valuesIn(bytes: Buffer, file: string, start: number): Generator<Span> {
  const isArray = bytes[start] === OPEN_LIST;
  let at = skipSpace(bytes, isArray ? start + 1 : start);
  let isFirst = true;
  while (at < bytes.length) {
    if (isArray && bytes[at] === CLOSE_LIST) {
      const rest = skipSpace(bytes, at + 1);
      if (rest === bytes.length) return;
      throw bad(bytes, file, rest, 'there is text after the end of the array', 'remove it');
    }
    if (isArray && !isFirst) {
      if (bytes[at] !== COMMA) throw bad(bytes, file, at, 'there is no comma between two items', 'add it');
      at = skipSpace(bytes, at + 1);
    }
    const end = valueEnd(bytes, at);
    yield { start: at, end };
    isFirst = false;
    at = skipSpace(bytes, end);
  }
  if (isArray)
    throw bad(bytes, file, bytes.length, 'the array is never closed', 'add ] at its end; is the file whole?');
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] === 0x20 || (bytes[at]! >= 0x09 && bytes[at]! <= 0x0d))) at++;
  return at;
}

/** The end of the value that begins here. Whether it is valid is checked when it is parsed. */
function valueEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      if (depth === 0) return at + 1;
    } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      // Without an opening one, it ends a plain value before it, or is a mistake of one byte.
      if (depth <= 1) return depth === 1 || at === start ? at + 1 : at;
      depth--;
    } else if (depth === 0 && (byte === COMMA || byte === LF || byte === 0x20)) return Math.max(at, start + 1);
  }
  return bytes.length;
}

/** The closing quote of the string that opens here. */
function stringEnd(bytes: Buffer, open: number): number {
  let at = open + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function readObject(bytes: Buffer, file: string, { start, end }: Span, number: number): object {
  const text = bytes.toString('utf8', start, end);
  let value: unknown;
  try {
    value = /\d{16}/.test(text) ? JSON.parse(text, refuseRounded) : JSON.parse(text);
  } catch (error) {
    if (error instanceof RangeError) throw bad(bytes, file, start, `item ${number}: ${error.message}`, AS_TEXT);
    throw bad(bytes, file, start, `item ${number} is not valid JSON`, (error as Error).message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const hint = 'each item is an object with names: {"name": "a"}';
    throw bad(bytes, file, start, `item ${number} is ${kindOf(value)}, not an object`, hint);
  }
  refuseWrapper(bytes, file, { start, end }, value);
  return value;
}

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
}

const AS_TEXT = 'write it as text, in double quotes';

/** JavaScript would round the number, and an id would be another one. */
function refuseRounded(_: string, value: unknown): unknown {
  if (typeof value !== 'number' || !Number.isInteger(value) || Number.isSafeInteger(value)) return value;
  throw new RangeError(`the number ${value} is too large to be read exactly`);
}

/** APIs wrap the list in an object. In one line it could be an item of JSON lines. */
function refuseWrapper(bytes: Buffer, file: string, { start, end }: Span, value: object): void {
  const isOnlyOne = start === skipSpace(bytes, 0) && skipSpace(bytes, end) === bytes.length;
  if (!isOnlyOne || !bytes.subarray(start, end).includes(LF)) return;
  const isList = (each: unknown) => Array.isArray(each) && typeof each[0] === 'object' && each[0] !== null;
  const [key] = Object.entries(value).find(([, each]) => isList(each)) ?? [];
  if (key === undefined) return;
  const message = `this is one object, and the items seem to be in its ${JSON.stringify(key)}`;
  throw bad(bytes, file, start, message, `take them out: jq '.[${JSON.stringify(key)}]' FILE > items.json`);
}

function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function bad(bytes: Buffer, file: string, position: number, message: string, hint: string): NightshiftError {
  return new NightshiftError('bad-table', message, hint, { file, line: lineAt(bytes, position) });
}
