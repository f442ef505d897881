import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import { type Scope, statusAt } from '../core/schedule/plan.ts';
import { sample } from '../core/schedule/sample.ts';
import { type Condition, isWholeShift, parseRows, type Selection } from '../core/schedule/selection.ts';
import type { Snapshot } from '../store/store.ts';
import { parseIndex, parseRow } from './rows.ts';

export function parseConditions(texts: readonly string[] | undefined): Condition[] | undefined {
  return texts?.map((text) => {
    const equals = text.indexOf('=');
    if (equals > 0) return { column: text.slice(0, equals), value: text.slice(equals + 1) };
    throw new NightshiftError(
      'usage',
      `--where ${JSON.stringify(text)} is not column=value`,
      'write --where city=Rome',
    );
  });
}

export function parseSample(
  size: string | undefined,
  seed: string | undefined,
  random: () => string,
): Selection['sample'] {
  if (size === undefined) {
    if (seed === undefined) return undefined;
    throw new NightshiftError('usage', '--seed is only for --sample', 'add --sample N');
  }
  if (/^[1-9]\d{0,8}$/.test(size)) return { size: Number(size), seed: seed ?? random() };
  throw new NightshiftError('usage', `--sample ${JSON.stringify(size)} is not a number of rows`, 'write --sample 5');
}

/** What is chosen is kept by identity: it stays the same when rows are inserted above. */
export function selector(first: Snapshot, selection: Selection): (snapshot: Snapshot) => Scope {
  const { task, items } = selection;
  if (isWholeShift({ ...selection, task: undefined })) return () => ({ task, includes: () => true });
  const ids = chosenRows(first, selection).map((row) => first.id(row));
  return (snapshot) => {
    const wanted = new Map(ids.map((id) => [snapshot.rowOf(id), id]));
    const includes = (row: number) => wanted.has(row);
    if (!items) return { task, includes };
    const positions = new Map(snapshot.tasks.map((name, position) => [name, position]));
    return { task, includes, since: (row) => positions.get(items[wanted.get(row) ?? ''] ?? '') ?? 0 };
  };
}

/** In row order. */
function chosenRows(snapshot: Snapshot, selection: Selection): number[] {
  const rows = matchingRows(snapshot, selection);
  if (!selection.sample) return rows;
  // Also of what is done: a run that continues an interrupted one covers the same rows.
  return sample(rows, selection.sample.size, selection.sample.seed, (row) => snapshot.id(row));
}

/** What conditions are about. */
export type Cells = Pick<Snapshot, 'count' | 'tasks' | 'columns' | 'header' | 'cell'>;

function matchingRows(snapshot: Snapshot, selection: Selection): number[] {
  const { items } = selection;
  const rows = rowsThatMeet(snapshot, selection);
  return items ? rows.filter((row) => snapshot.id(row) in items) : rows;
}

function rowsThatMeet(cells: Cells, { rows, where = [] }: Selection): number[] {
  const tests = where.map((condition) => conditionTest(cells, condition));
  return rowsIn(rows, cells.count).filter((row) => tests.every((test) => test(row)));
}

/** Each once, in row order. */
function rowsIn(rows: string | undefined, count: number): number[] {
  const all = Array.from({ length: count }, (_, row) => row);
  if (rows === undefined) return all;
  const ranges = parseRows(rows);
  // A range that begins behind the last row is a mistake.
  for (const { from } of ranges) parseRow(String(from + 1), count);
  return all.filter((row) => ranges.some(({ from, to }) => from <= row && row <= to));
}

/** Rows as they were typed. */
export interface NamedRows {
  /** 1-based, as people count: rows and ranges. */
  readonly rows?: readonly string[] | undefined;
  /** 0-based, as qsv counts. */
  readonly indices?: readonly string[] | undefined;
}

export function isNamed({ rows = [], indices = [] }: NamedRows): boolean {
  return rows.length + indices.length > 0;
}

/** The indices of the named rows. */
export function namedRows({ rows = [], indices = [] }: NamedRows, count: number): Set<number> {
  const byRow = rows.length > 0 ? rowsIn(rows.join(','), count) : [];
  return new Set([...byRow, ...indices.map((index) => parseIndex(index, count))]);
}

function conditionTest(cells: Cells, { column, value }: Condition): (row: number) => boolean {
  const task = cells.tasks.indexOf(column);
  if (task >= 0) return (row) => statusAt(cells, row, task) === value;
  if (cells.header.includes(column)) return (row) => cells.cell(row, column) === value;
  const near = nearest(column, cells.header);
  const hint = near ? `did you mean ${near}?` : `columns are: ${cells.header.join(', ')}`;
  throw new NightshiftError('not-found', `the table has no column ${JSON.stringify(column)}`, hint);
}

/** A selection of no rows is a mistake, not a night without work. */
export function refuseNoMatch(cells: Cells, selection: Selection): void {
  const { rows, where } = selection;
  rowsIn(rows, cells.count);
  if (!where || rowsThatMeet(cells, selection).length > 0) return;
  throw noMatch(where, rows !== undefined);
}

export function noMatch(where: readonly Condition[], isAmongChosen: boolean): NightshiftError {
  const said = where.map(({ column, value }) => `${column}=${value}`).join(' and ');
  const among = isAmongChosen ? ' among the chosen rows' : '';
  return new NightshiftError(
    'nothing-to-do',
    `no row has ${said}${among}`,
    'the whole cell must be equal, also its case',
  );
}
