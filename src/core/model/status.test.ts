import { expect, test } from 'vitest';
import { isArrow, isStatus, mayWrite, STATUSES, type Writer } from './status.ts';

const arrows = (writer: Writer) =>
  STATUSES.flatMap((from) => STATUSES.filter((to) => mayWrite(writer, from, to)).map((to) => `${from}-${to}`));

test('T1 T2 every writer has its arrows and no others', () => {
  expect(arrows('manager')).toEqual(['todo-in_progress', 'in_progress-todo']);
  expect(arrows('dev')).toEqual(['in_progress-qa', 'in_progress-failed']);
  expect(arrows('qa')).toEqual(['qa-done', 'qa-failed']);
  expect(arrows('retry')).toEqual(['qa-in_progress']);
  expect(arrows('reset')).toEqual(['in_progress-todo', 'qa-todo', 'done-todo', 'failed-todo']);
  expect(isArrow('todo', 'done')).toBe(false);
  // Only a run sends an item back to its dev.
  expect(isArrow('qa', 'in_progress')).toBe(false);
  expect(isArrow('failed', 'done')).toBe(false);
  expect(isArrow('failed', 'todo')).toBe(true);
});

test('T1 there are exactly five values, and none looks like one by accident', () => {
  expect(STATUSES.every(isStatus)).toBe(true);
  for (const value of ['', 'Done', ' done', 'toString', 'constructor']) expect(isStatus(value)).toBe(false);
});
