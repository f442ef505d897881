import { NightshiftError } from '../../core/model/errors.ts';
import { addColumns, readStatuses, type Table } from '../../formats/table.ts';
import { createTask } from '../../formats/task.ts';
import { ShiftFiles } from './documents/shift-files.ts';
import type { ShiftPaths } from './layout.ts';
import { changeTable } from './table/table-change.ts';

/**
 * Adds a task: its file, its column, and last its entry in the Task Order, which makes it a task. If interrupted, the
 * same command resumes. A task that lost its file gets one, and keeps its statuses.
 */
export async function createTaskFile(
  paths: ShiftPaths,
  task: string,
  text: string | undefined,
  now: () => number,
): Promise<void> {
  const files = new ShiftFiles(paths);
  const present = (await files.taskOrder()).find(({ name }) => name === task);
  const existing = await files.taskText(task);
  if (present && existing !== undefined) {
    const hint = `edit ${paths.task(task)}, or choose another name`;
    const place = { file: paths.manager, line: present.line };
    throw new NightshiftError('usage', `${paths.name} already has the task ${task}`, hint, place);
  }
  // Checked before the first write: the column may exist and hold something else.
  const column = (table: Table) => table.columnOf(task);
  await changeTable(
    paths,
    (table) => {
      if (column(table) >= 0) requireStatuses(table, column(table), paths.table, present !== undefined);
      return { table, answer: undefined };
    },
    now,
  );
  if (existing !== undefined && text !== undefined && existing !== text) {
    const hint = 'remove it first, or leave --from out to use it as it is';
    throw new NightshiftError('usage', `there is already a ${task}.md`, hint, { file: paths.task(task) });
  }
  if (existing === undefined) await files.replaceTask(task, text ?? createTask(task));
  await changeTable(
    paths,
    (table) => ({
      table: column(table) >= 0 ? table : addColumns(table, [{ name: task, value: 'todo' }]),
      answer: undefined,
    }),
    now,
  );
  if (!present) await files.addToOrder(task);
}

function requireStatuses(table: Table, column: number, file: string, isTask: boolean): void {
  try {
    readStatuses(table, column, file);
  } catch (error) {
    if (isTask || !(error instanceof NightshiftError)) throw error;
    const message = `the table already has a column "${table.header[column]}", and what it holds are no statuses`;
    const hint = 'choose another name for the task, or rename the column';
    throw new NightshiftError('usage', message, hint, {
      file,
      ...(error.line === undefined ? {} : { line: error.line }),
    });
  }
}
