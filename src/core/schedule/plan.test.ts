import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STATUSES, type Status } from '../model/status.ts';
import { type Board, cellsAt, countCells, countEligible, countItems, countSelected } from './plan.ts';

function board(rows: readonly (readonly Status[])[], taskCount = rows[0]?.length ?? 1): Board {
  const tasks = Array.from({ length: taskCount }, (_, i) => `task${i}`);
  const columns = tasks.map((_, task) => Uint8Array.from(rows, (row) => STATUSES.indexOf(row[task]!)));
  return { count: rows.length, tasks, columns };
}

const statuses = fc.constantFrom(...STATUSES);
const boards = fc
  .integer({ min: 1, max: 4 })
  .chain((tasks) =>
    fc
      .array(fc.array(statuses, { minLength: tasks, maxLength: tasks }), { maxLength: 12 })
      .map((rows) => ({ rows, tasks })),
  );
test('F2 completed, failed and remaining add up; failed wins over everything', () => {
  const night = board([
    ['done', 'done'],
    ['done', 'failed'],
    ['failed', 'todo'],
    ['done', 'qa'],
    ['in_progress', 'todo'],
  ]);
  expect(countItems(night)).toEqual({ total: 5, completed: 1, failed: 2, remaining: 2 });
  expect(countItems(night, (row) => row < 2)).toEqual({ total: 2, completed: 1, failed: 1, remaining: 0 });
  expect(cellsAt(night, 'failed')).toEqual([
    { row: 2, task: 'task0' },
    { row: 1, task: 'task1' },
  ]);
  expect(countCells(night)[0]!.counts).toEqual({ todo: 0, in_progress: 1, qa: 0, done: 3, failed: 1 });
});

test('M4 what a run is about is counted by status, and what it can reach no more, or not without a task that it leaves out', () => {
  const night = board([
    ['todo', 'todo', 'todo'],
    ['failed', 'todo', 'todo'],
    ['done', 'todo', 'todo'],
    ['qa', 'todo', 'todo'],
    ['done', 'done', 'todo'],
    ['done', 'done', 'done'],
  ]);
  const none = { todo: 0, in_progress: 0, qa: 0, done: 0, failed: 0, blocked: 0 };
  const all = { includes: () => true };
  expect(countSelected(night, all)).toEqual([
    { ...none, task: 'task0', todo: 1, failed: 1, done: 3, qa: 1 },
    { ...none, task: 'task1', todo: 4, done: 2, blocked: 1 },
    { ...none, task: 'task2', todo: 5, done: 1, blocked: 1 },
  ]);
  expect(countSelected(night, { ...all, task: 'task1' })).toEqual([
    { ...none, task: 'task1', todo: 4, done: 2, blocked: 3 },
  ]);
  expect(countSelected(night, { task: 'task2', includes: (row) => row > 2 })).toEqual([
    { ...none, task: 'task2', todo: 2, done: 1, blocked: 1 },
  ]);
});

test('M4 with one task, what is counted as in reach is what can be dispatched', () => {
  fc.assert(
    fc.property(boards, fc.nat(3), ({ rows, tasks }, nth) => {
      const scope = { task: `task${nth % tasks}`, includes: (row: number) => row % 3 > 0 };
      const [{ todo, blocked } = { todo: 0, blocked: 0 }] = countSelected(board(rows, tasks), scope);
      expect(todo - blocked).toBe(countEligible(board(rows, tasks), scope));
    }),
  );
});
