import { NightshiftError } from '../model/errors.ts';

/**
 * What a run covers, as plain JSON: part of `run:started`, and expressible as flags. All given conditions must hold;
 * without any, the run covers the whole shift.
 */
export interface Selection {
  readonly task?: string | undefined;
  /** 1-based: `3`, `3:10`, `3:`, `:10`, or several with commas. */
  readonly rows?: string | undefined;
  /** Cells that must have exactly this value. */
  readonly where?: readonly Condition[] | undefined;
  /** This many of the rows that match everything else, whatever their status. The seed decides which. */
  readonly sample?: { readonly size: number; readonly seed: string } | undefined;
  /** Only these items, by identity, each from this task on: the scope of a retry. No flag expresses it. */
  readonly items?: Readonly<Record<string, string>> | undefined;
}

export interface Condition {
  readonly column: string;
  readonly value: string;
}

/** 0-based, both ends included. */
export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** Drops empty conditions and fields that are not part of a selection. */
export function selectionIn({ task, rows, where, sample, items }: Selection): Selection {
  const given = Object.entries({ task, rows, where, sample, items }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

export function isWholeShift(selection: Selection): boolean {
  return Object.keys(selectionIn(selection)).length === 0;
}

/**
 * `3`, `3:10`, `3:`, `:10`, or several of them with commas; also `3-10`. 1-based and inclusive, as people count rows.
 */
export function parseRows(text: string): RowRange[] {
  return text.split(',').map((part) => parseRange(part.trim(), text));
}

function parseRange(part: string, text: string): RowRange {
  const match = /^(\d*)(?:([:-])(\d*))?$/.exec(part);
  const [, from = '', separator, to = ''] = match ?? [];
  const range = {
    from: from === '' ? 0 : Number(from) - 1,
    to: separator === undefined ? Number(from) - 1 : to === '' ? Number.MAX_SAFE_INTEGER : Number(to) - 1,
  };
  // `-10` would look like a flag.
  const isOpen = from === '' && (to === '' || separator === '-');
  if (match && !isOpen && range.from >= 0 && range.to >= range.from) return range;
  const hint = 'write it like 3, 3:10, 3:, :10 or 3,7,12:20 (the first row is 1)';
  throw new NightshiftError('usage', `${JSON.stringify(text)} is not a range of rows`, hint);
}

/** The equivalent flags of `start`, as `--name=value`. */
export function selectionFlags({ task, rows, where = [], sample }: Selection): string[] {
  return [
    ...(task === undefined ? [] : [`--task=${task}`]),
    ...(rows === undefined ? [] : [`--rows=${rows}`]),
    ...where.map(({ column, value }) => `--where=${column}=${value}`),
    ...(sample ? [`--sample=${sample.size}`, `--seed=${sample.seed}`] : []),
  ];
}

/** Reads a selection from a journal, which may contain anything; undefined if it is not one. */
export function readSelection(value: unknown): Selection | undefined {
  if (!isObject(value)) return undefined;
  const { task, rows, where, sample, items } = value;
  const isRead =
    isAbsentOr(task, isText) &&
    isAbsentOr(rows, isText) &&
    isAbsentOr(where, (each) => Array.isArray(each) && each.every(isCondition)) &&
    isAbsentOr(sample, (each) => isObject(each) && typeof each.size === 'number' && isText(each.seed)) &&
    isAbsentOr(items, (each) => isObject(each) && Object.values(each).every(isText));
  return isRead ? selectionIn(value as Selection) : undefined;
}

function isAbsentOr(value: unknown, fits: (value: unknown) => boolean): boolean {
  return value === undefined || fits(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isCondition(value: unknown): boolean {
  return isObject(value) && isText(value.column) && isText(value.value);
}
