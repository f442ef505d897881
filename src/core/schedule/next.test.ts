import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATUSES, type Status } from '../model/status.ts';
import { chooseForDevs, chooseNext, isWorkLeft, type Next, openWork } from './next.ts';
import { type Board, countEligible } from './plan.ts';

type Rows = readonly (readonly Status[])[];

function boardOf(rows: Rows, taskCount = rows[0]?.length ?? 1): Board {
  const tasks = Array.from({ length: taskCount }, (_, i) => `task${i}`);
  const columns = tasks.map((_, task) => Uint8Array.from(rows, (row) => STATUSES.indexOf(row[task]!)));
  return { count: rows.length, tasks, columns };
}

const ALL = { includes: () => true };
const nights = fc
  .integer({ min: 1, max: 4 })
  .chain((tasks) =>
    fc
      .array(fc.array(fc.constantFrom(...STATUSES), { minLength: tasks, maxLength: tasks }), { maxLength: 12 })
      .map((rows) => ({ rows, board: boardOf(rows, tasks), tasks })),
  );
const rowSets = fc.uniqueArray(fc.nat(11), { maxLength: 4 }).map((rows) => new Set(rows));
const situations = fc.record({
  night: nights,
  mode: fc.constantFrom('batch' as const, 'stream' as const),
  sequence: fc.constantFrom('rows' as const, 'tasks' as const),
  room: fc.integer({ min: 1, max: 6 }),
  deferred: rowSets,
  running: rowSets,
});

const canStart = (rows: Rows, row: number, task: number) =>
  rows[row]![task] === 'todo' && rows[row]!.slice(0, task).every((status) => status === 'done');

/** By task, the rows that pass. */
function rowsWhere(rows: Rows, tasks: number, test: (row: number, task: number) => boolean): number[][] {
  return Array.from({ length: tasks }, (_, task) => rows.flatMap((_, row) => (test(row, task) ? [row] : [])));
}

function firstTask(found: readonly (readonly number[])[], most: number, role: Next['role']): Next | undefined {
  const task = found.findIndex((rows) => rows.length > 0);
  return task < 0 ? undefined : { task: `task${task}`, rows: found[task]!.slice(0, most), role };
}

test('M3 M4 P3 in a batch, devs get the first task with eligible items and its first rows, up to the size', () => {
  fc.assert(
    fc.property(nights, fc.integer({ min: 1, max: 6 }), ({ rows, board, tasks }, room) => {
      const found = rowsWhere(rows, tasks, (row, task) => canStart(rows, row, task));
      const expected = firstTask(found, room, 'dev');
      expect(chooseForDevs({ board, scope: ALL, sequence: 'tasks', room })).toEqual(expected);
      expect(countEligible(board)).toBe(found.flat().length);
    }),
  );
});

test('M2 M4 with `order: rows`, devs get the first rows with an eligible task, as far as it is the same task', () => {
  fc.assert(
    fc.property(nights, fc.integer({ min: 1, max: 6 }), ({ rows, board }, room) => {
      const cells = rows.flatMap((cellsOf, row) => cellsOf.map((_, task) => ({ row, task })));
      const together = cells.filter(({ row, task }) => canStart(rows, row, task)).slice(0, room);
      const [first] = together;
      const expected = first && {
        task: `task${first.task}`,
        rows: together.filter(({ task }) => task === first.task).map(({ row }) => row),
        role: 'dev',
      };
      expect(chooseForDevs({ board, scope: ALL, sequence: 'rows', room })).toEqual(expected);
    }),
  );
});

test('M2 with `order: rows`, a row that has begun comes before a new one, however many may run', () => {
  const board = boardOf([
    ['done', 'failed'],
    ['todo', 'todo'],
    ['done', 'todo'],
    ['todo', 'todo'],
  ]);
  const rowsFor = (room: number) => chooseForDevs({ board, scope: ALL, sequence: 'rows', room });
  expect(rowsFor(1)).toEqual({ task: 'task0', rows: [1], role: 'dev' });
  // Row 4 would be begun while row 3 waits.
  expect(rowsFor(2)).toEqual({ task: 'task0', rows: [1], role: 'dev' });
  expect(rowsFor(3)).toEqual({ task: 'task0', rows: [1, 3], role: 'dev' });
});

test('T5 X5 items at qa come first, deferred rows last, rows that run never', () => {
  fc.assert(
    fc.property(situations, ({ night: { rows, board, tasks }, mode, sequence, room, deferred, running }) => {
      const among = (isFree: (row: number) => boolean): Next | undefined => {
        const waiting = rowsWhere(rows, tasks, (row, task) => isFree(row) && rows[row]![task] === 'qa');
        const scope = { includes: isFree };
        return (
          firstTask(waiting, mode === 'stream' ? room : 12, 'qa') ?? chooseForDevs({ board, scope, sequence, room })
        );
      };
      const others = among((row) => !running.has(row) && !deferred.has(row));
      const expected = others ?? (running.size > 0 ? undefined : among(() => true));
      expect(chooseNext({ board, scope: ALL, mode, sequence, room, deferred, running })).toEqual(expected);
    }),
  );
});

test('M4 X5 there is work left exactly if something can start when nothing runs, also if all of it is deferred', () => {
  fc.assert(
    fc.property(situations, ({ night: { rows, board, tasks }, mode, sequence, room, deferred }) => {
      const open = rowsWhere(rows, tasks, (row, task) => rows[row]![task] === 'qa' || canStart(rows, row, task));
      const isLeft = open.flat().length > 0;
      expect(isWorkLeft(board, ALL)).toBe(isLeft);
      expect(chooseNext({ board, scope: ALL, mode, sequence, room, deferred }) !== undefined).toBe(isLeft);
    }),
  );
});

test('M4 a task is open if something of it runs or could start', () => {
  const board = boardOf([
    ['in_progress', 'todo', 'todo'],
    ['done', 'qa', 'todo'],
    ['failed', 'todo', 'todo'],
  ]);
  const [running, waiting] = [
    { task: 'task0', role: 'dev' },
    { task: 'task1', role: 'qa' },
  ];
  expect(openWork(board, ALL)).toEqual([running, waiting]);
  expect(openWork(board, { ...ALL, task: 'task1' })).toEqual([waiting]);
});

test('M4 items at qa and devs may have different limits', () => {
  const board = boardOf([['qa'], ['todo'], ['qa']]);
  const choose = (forDevs: number, forQa: number) =>
    chooseNext({
      ...{ board, scope: ALL, mode: 'stream', sequence: 'tasks', room: forDevs },
      forQa: { scope: ALL, room: forQa },
    });
  expect(choose(0, 1)).toEqual({ task: 'task0', rows: [0], role: 'qa' });
  expect(choose(1, 0)).toEqual({ task: 'task0', rows: [1], role: 'dev' });
  expect(choose(0, 0)).toBeUndefined();
});

test('X6 a scope narrows every mode, and does not make a later task eligible; nothing starts of a paused task', () => {
  const board = boardOf([
    ['todo', 'todo'],
    ['done', 'todo'],
    ['done', 'todo'],
    ['failed', 'todo'],
  ]);
  const scope = { task: 'task1', includes: (row: number) => row !== 1 };
  for (const mode of ['batch', 'stream'] as const) {
    for (const sequence of ['rows', 'tasks'] as const) {
      const next = { task: 'task1', rows: [2], role: 'dev' };
      expect(chooseNext({ board, scope, mode, sequence, room: 9 })).toEqual(next);
      const paused = { ...scope, paused: new Set(['task1']) };
      expect(chooseNext({ board, scope: paused, mode, sequence, room: 9 })).toBeUndefined();
    }
  }
  expect(countEligible(board, scope)).toBe(1);
});
