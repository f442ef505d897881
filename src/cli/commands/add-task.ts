import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { checkTaskName } from '../../core/model/names.ts';
import { checkScripts } from '../../formats/compile-task.ts';
import { findUnwritten, parseTask, type TaskDocument, taskWarnings } from '../../formats/task.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { createTaskFile } from '../../store/folder/new-task.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { readTable } from '../../store/folder/table/table-change.ts';
import { readError } from '../../store/folder/table/table-file.ts';
import { oneLine } from '../../views/printable.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '', task = '']: readonly string[], options: Options): Promise<number> {
  checkTaskName(task);
  const paths = openShift(requireRoot(io), name);
  const from = options.from === undefined ? undefined : resolve(io.cwd, options.from);
  const document = from === undefined ? undefined : await readTaskFile(from);
  if (document && from) checkScripts(document, from, (await readTable(paths)).header);
  if (document ? findUnwritten(document) : !existsSync(paths.task(task))) refuseWhileRunning(paths, task);
  await createTaskFile(paths, task, document?.text, io.now);
  if (document) for (const warning of taskWarnings(document, paths.task(task))) io.warn(`warning: ${oneLine(warning)}`);
  if (options.json) io.print(JSON.stringify({ shift: name, task, file: paths.task(task) }));
  else {
    io.print(`${task} is in ${paths.task(task)}, and has its column in the table.`);
    io.print(
      from === undefined
        ? `Next: write its Steps and Validation, then try it: \`nightshift preview ${name} ${task} --row 1\``
        : `Next: \`nightshift preview ${name} ${task} --row 1\` shows what an agent will get, \`nightshift start ${name}\` runs it.`,
    );
  }
  return EXIT.done;
}

/** A run reads the Task Order again and again, and a task that nobody has written would end it. */
function refuseWhileRunning({ name, runLock }: ShiftPaths, task: string): void {
  if (currentHolder(runLock) === undefined) return;
  const hint = `write it first, then \`nightshift add-task ${name} ${task} --from FILE.md\``;
  throw new NightshiftError('usage', `${name} is running, and the template is nothing to work on`, hint);
}

async function readTaskFile(file: string): Promise<TaskDocument> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw readError(cause, file);
  });
  return parseTask(text, file);
}
