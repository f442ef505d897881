import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import { type Selection, statusAt } from '../core/schedule/plan.ts';
import { sample } from '../core/schedule/sample.ts';
import type { Snapshot } from '../store/store.ts';
import type { RowRange } from './rows.ts';

/** Which part of a shift a run is to be about; all that is said must hold. */
export interface Choice {
  readonly task?: string | undefined;
  readonly rows?: RowRange | undefined;
  /** Cells that must have exactly this value. */
  readonly where?: readonly Condition[] | undefined;
  /** So many of the rows for which all else holds, whatever their status; the seed decides which. */
  readonly sample?: { readonly size: number; readonly seed: string } | undefined;
  /** Only these items, each from this task on. */
  readonly from?: ReadonlyMap<string, string> | undefined;
}

export interface Condition {
  readonly column: string;
  readonly value: string;
}

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
): Choice['sample'] {
  if (size === undefined) {
    if (seed === undefined) return undefined;
    throw new NightshiftError('usage', '--seed is only for --sample', 'add --sample N');
  }
  if (/^[1-9]\d{0,8}$/.test(size)) return { size: Number(size), seed: seed ?? random() };
  throw new NightshiftError('usage', `--sample ${JSON.stringify(size)} is not a number of rows`, 'write --sample 5');
}

/** Whether it is less than all of the shift. */
export function isPart({ task, rows, where, sample, from }: Choice): boolean {
  return [task, rows, where, sample, from].some((each) => each !== undefined);
}

/** What was chosen is kept by identity: the rows stay the same ones when others are inserted above. */
export function selector(first: Snapshot, choice: Choice): (snapshot: Snapshot) => Selection {
  const { task, from } = choice;
  if (!isPart({ ...choice, task: undefined })) return () => ({ task, includes: () => true });
  const ids = chosenRows(first, choice).map((row) => first.id(row));
  return (snapshot) => {
    const wanted = new Map(ids.map((id) => [snapshot.rowOf(id), id]));
    const includes = (row: number) => wanted.has(row);
    if (!from) return { task, includes };
    const positions = new Map(snapshot.tasks.map((name, position) => [name, position]));
    return { task, includes, since: (row) => positions.get(from.get(wanted.get(row) ?? '') ?? '') ?? 0 };
  };
}

/** In row order. */
function chosenRows(snapshot: Snapshot, choice: Choice): number[] {
  const rows = matchingRows(snapshot, choice);
  if (!choice.sample) return rows;
  // Also of what is done: a run that goes on with an interrupted one is about the same rows.
  return sample(rows, choice.sample.size, choice.sample.seed, (row) => snapshot.id(row));
}

function matchingRows(snapshot: Snapshot, { rows, where = [], from }: Choice): number[] {
  const tests = where.map((condition) => conditionTest(snapshot, condition));
  const matching: number[] = [];
  for (let row = rows?.from ?? 0; row <= Math.min(rows?.to ?? snapshot.count, snapshot.count - 1); row++) {
    if (tests.every((test) => test(row)) && (!from || from.has(snapshot.id(row)))) matching.push(row);
  }
  return matching;
}

function conditionTest(snapshot: Snapshot, { column, value }: Condition): (row: number) => boolean {
  const task = snapshot.tasks.indexOf(column);
  if (task >= 0) return (row) => statusAt(snapshot, row, task) === value;
  if (snapshot.header.includes(column)) return (row) => snapshot.metadata(row)[column] === value;
  const near = nearest(column, snapshot.header);
  const hint = near ? `did you mean ${near}?` : `columns are: ${snapshot.header.join(', ')}`;
  throw new NightshiftError('not-found', `the table has no column ${JSON.stringify(column)}`, hint);
}

/** A value that no row has is a slip of the pen, not a night without work. */
export function refuseNoMatch(snapshot: Snapshot, choice: Choice): void {
  if (!choice.where || matchingRows(snapshot, choice).length > 0) return;
  throw noMatch(choice.where, choice.rows !== undefined);
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
