import { NightshiftError } from '../core/model/errors.ts';
import { nearest } from '../core/model/names.ts';
import type { Shift, Task } from '../core/model/shift.ts';

export function findTask(shift: Shift, name: string): Task {
  const task = shift.tasks.find((each) => each.name === name);
  if (task) return task;
  const names = shift.tasks.map((each) => each.name);
  const near = nearest(name, names);
  const hint = near
    ? `did you mean ${near}?`
    : names.length > 0
      ? `tasks are: ${names.join(', ')}`
      : 'it has no tasks yet';
  throw new NightshiftError('not-found', `${shift.name} has no task ${JSON.stringify(name)}`, hint);
}
