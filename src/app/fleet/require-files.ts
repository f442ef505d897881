import { NightshiftError } from '../../core/model/errors.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { usesFolder, usesTable } from '../../core/model/shift-names.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { filesToTravel } from './shift-bundle.ts';
import { isShared } from './task-place.ts';

/** Throws if a task uses files of the shift that its workers can't have. */
export async function requireFiles(paths: ShiftPaths, shift: Shift): Promise<void> {
  const withTable = shift.tasks.find((task) => !isShared(task) && textsOf(shift, task).some(usesTable));
  if (withTable) throw noTable(withTable);
  if (!takesFiles(shift)) return;
  const tasks = shift.tasks.map(({ name }) => name);
  await filesToTravel(paths, tasks);
}

/** Whether orders of a shift take files of its folder along. */
export function takesFiles(shift: Shift): boolean {
  return shift.tasks.some((task) => !isShared(task) && textsOf(shift, task).some(usesFolder));
}

function textsOf({ workspace }: Shift, task: Task): Parameters<typeof usesFolder>[0][] {
  const { settings, hasWorkspace, withoutLessons } = task;
  const templates = withoutLessons ? [task, withoutLessons] : [task];
  return templates.map((template) => ({ template, settings, ...(hasWorkspace && { workspace }) }));
}

function noTable({ name, file, text }: Task): NightshiftError {
  const line = text.split('\n').findIndex((each) => each.includes('{SHIFT:TABLE}')) + 1;
  return new NightshiftError(
    'bad-placeholder',
    `{SHIFT:TABLE} in ${name} is not possible in a fleet: workers don't have the table`,
    'use columns of the row, such as {name}; or `workspace: shared` and workers with --root, which have the table',
    { file, ...(line > 0 && { line }), placeholder: 'SHIFT:TABLE' },
  );
}
