import { expect, test } from 'vitest';
import type { Status } from '../model/status.ts';
import { countByTask, tasksToReset } from './reset.ts';

/** `done*` is named. */
function item(...tasks: string[]) {
  return tasks.map((text) => ({ status: text.replace('*', '') as Status, isNamed: text.endsWith('*') }));
}

test.each([
  [['done', 'done*', 'done', 'failed', 'todo'], [1, 2, 3], [1]],
  [['done*', 'qa', 'in_progress'], [0, 1, 2], [0]],
  [['done', 'failed*'], [1], [1]],
  // What was set back alone before has left its later tasks behind.
  [['todo*', 'done'], [1], []],
  [['done', 'done'], [], []],
])('T1 of %j these go back: %j, or %j alone', (tasks, all, alone) => {
  expect(tasksToReset(item(...tasks))).toEqual(all);
  expect(tasksToReset(item(...tasks), true)).toEqual(alone);
});

test('T1 what went back is counted by task, in Task Order', () => {
  expect(Object.entries(countByTask(['b', 'a', 'c'], ['a', 'b', 'a']))).toEqual([
    ['b', 1],
    ['a', 2],
  ]);
});
