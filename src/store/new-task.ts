import { NightshiftError } from '../core/errors.ts';
import { addColumns, readStatuses } from '../formats/table.ts';
import { createTask } from '../formats/task.ts';
import type { ShiftPaths } from './layout.ts';
import { ShiftFiles } from './shift-files.ts';
import { changeTable } from './table-change.ts';

/**
 * Adds a task: its file, its column, and last its place in the Task Order, which alone makes it a task. Interrupted in
 * between, the same command goes on where it was.
 */
export async function createTaskFile(
  paths: ShiftPaths,
  task: string,
  text: string | undefined,
  now: () => number,
): Promise<void> {
  const files = new ShiftFiles(paths);
  const present = (await files.taskOrder()).find(({ name }) => name === task);
  if (present) {
    const hint = `edit ${paths.task(task)}, or choose another name`;
    const place = { file: paths.manager, line: present.line };
    throw new NightshiftError('usage', `${paths.name} already has the task ${task}`, hint, place);
  }
  // Checked before the first write: a column of that name that holds something else.
  const column = (table: Parameters<typeof readStatuses>[0]) => table.columnOf(task);
  await changeTable(
    paths,
    (table) => {
      if (column(table) >= 0) readStatuses(table, column(table), paths.table);
      return { table, answer: undefined };
    },
    now,
  );
  const existing = await files.taskText(task);
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
  await files.addToOrder(task);
}
