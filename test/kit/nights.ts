import fc from 'fast-check';
import { type ShiftSettings, SimulatedShift } from './simulated-shift.ts';
import type { Act, Play } from './simulated-worker.ts';

/** What becomes of one item-task, whoever works on it and whenever. */
export interface Fate {
  readonly devMs: number;
  readonly qaMs: number;
  readonly dev: 'pass' | 'fail';
  readonly qa: 'pass' | 'fail';
  /** Orders that meet trouble before one goes through. */
  readonly devTroubles: number;
  readonly qaTroubles: number;
}

/** A shift, and how it ends if nobody disturbs it. `fates`: by row, then by task. */
export interface Night {
  readonly tasks: readonly string[];
  readonly fates: readonly (readonly Fate[])[];
}

export interface Mode {
  readonly kind: 'sequential' | 'batches' | 'stream';
  readonly size?: number;
  readonly max?: number;
  readonly order?: 'rows' | 'tasks';
}

const TASKS = ['draft', 'build', 'publish'];
/** Every property sees the same nights in every run of the tests; another seed has others. */
const SEED = Number(process.env.NIGHTSHIFT_SEED ?? 1);
/** So many for each property; `npm run test:properties` asks for more. */
const RUNS = Number(process.env.NIGHTSHIFT_RUNS ?? 60);

export function holds<T extends unknown[]>(
  arbitraries: { [K in keyof T]: fc.Arbitrary<T[K]> },
  property: (...values: T) => Promise<void>,
): Promise<void> {
  const all = fc.tuple(...arbitraries) as unknown as fc.Arbitrary<T>;
  const checked = fc.asyncProperty(all, (values) => property(...values));
  return fc.assert(checked, { seed: SEED, numRuns: RUNS });
}

export function nights({ troubles = 0, most = 8 } = {}): fc.Arbitrary<Night> {
  const end = fc.constantFrom('pass' as const, 'pass' as const, 'pass' as const, 'fail' as const);
  const fate = fc.record({
    devMs: fc.integer({ min: 1, max: 3000 }),
    qaMs: fc.integer({ min: 1, max: 900 }),
    dev: end,
    qa: end,
    devTroubles: fc.integer({ min: 0, max: troubles }),
    qaTroubles: fc.integer({ min: 0, max: troubles }),
  });
  return fc.integer({ min: 1, max: TASKS.length }).chain((count) =>
    fc.record({
      tasks: fc.constant(TASKS.slice(0, count)),
      fates: fc.array(fc.array(fate, { minLength: count, maxLength: count }), { minLength: 1, maxLength: most }),
    }),
  );
}

export const modes: fc.Arbitrary<Mode> = fc.record(
  {
    kind: fc.constantFrom('sequential' as const, 'batches' as const, 'stream' as const),
    size: fc.integer({ min: 1, max: 6 }),
    max: fc.integer({ min: 1, max: 6 }),
    order: fc.constantFrom('rows' as const, 'tasks' as const),
  },
  { requiredKeys: ['kind'] },
);

export function modeOf(kind: Mode['kind']): fc.Arbitrary<Mode> {
  return modes.map((mode) => ({ ...mode, kind }));
}

export function settingsOf({ kind, size, max, order }: Mode): ShiftSettings {
  const ordered = order === undefined ? {} : { order };
  if (kind === 'sequential') return { parallel: false, ...ordered };
  return {
    ...ordered,
    parallel: true,
    dispatch: kind === 'stream' ? 'stream' : 'batch',
    ...(size === undefined ? {} : { 'current-batch-size': size }),
    ...(max === undefined ? {} : { 'max-batch-size': max }),
  };
}

/** Every order costs a dollar. */
export function shiftOf(night: Night, settings: ShiftSettings): SimulatedShift {
  const play: Play = ({ role, task, item }, nth): Act => {
    const fate = night.fates[item.index]![night.tasks.indexOf(task)]!;
    const [ms, end, troubles] =
      role === 'dev' ? [fate.devMs, fate.dev, fate.devTroubles] : [fate.qaMs, fate.qa, fate.qaTroubles];
    return { ms, costUsd: 1, end: nth < troubles ? { reason: 'rate limit' } : end };
  };
  return new SimulatedShift({ rows: night.fates.length, tasks: night.tasks, settings, play });
}

/** By row, then by task (rule M4): a failure blocks the later tasks of its item and nothing else. */
export function finalStatuses({ fates }: Night): string[][] {
  return fates.map((row) => {
    const broken = row.findIndex((fate) => !passes(fate));
    return row.map((_, task) => (broken < 0 || task < broken ? 'done' : task === broken ? 'failed' : 'todo'));
  });
}

export function passes({ dev, qa }: Fate): boolean {
  return dev === 'pass' && qa === 'pass';
}

type Statuses = readonly (readonly string[])[];

/** The task and the rows that come next, of at most this many. */
export function nextOf(statuses: Statuses, most: number, order: 'rows' | 'tasks' = 'tasks'): NextBatch {
  return order === 'rows' ? nextRows(statuses, most) : nextTask(statuses, most);
}

interface NextBatch {
  readonly task: number;
  readonly rows: number[];
}

const canStart = (row: readonly string[], task: number) =>
  row[task] === 'todo' && row.slice(0, task).every((status) => status === 'done');

/** The first task with eligible items, in row order. */
function nextTask(statuses: Statuses, most: number): NextBatch {
  const task = (statuses[0] ?? []).findIndex((_, each) => statuses.some((row) => canStart(row, each)));
  const rows = statuses.flatMap((row, i) => (canStart(row, task) ? [i] : []));
  return { task, rows: rows.slice(0, most) };
}

/** The first rows that can go on, as far as they need the task of the first of them. */
function nextRows(statuses: Statuses, most: number): NextBatch {
  const needs = statuses.map((row) => row.findIndex((_, task) => canStart(row, task)));
  const ready = needs.flatMap((task, row) => (task < 0 ? [] : [row])).slice(0, most);
  const task = ready.length === 0 ? -1 : needs[ready[0]!]!;
  return { task, rows: ready.filter((row) => needs[row] === task) };
}
