import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { checkTaskName } from '../core/model/names.ts';
import { checkScripts } from '../formats/compile-task.ts';
import { findUnwritten, parseTask, refuseOtherShells, taskWarnings } from '../formats/task.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { createTaskFile } from '../store/folder/new-task.ts';
import { currentHolder } from '../store/folder/run-lock.ts';
import { readTable } from '../store/folder/table/table-change.ts';
import { readError } from '../store/folder/table/table-file.ts';
import type { World } from './world.ts';

/** The content of the task file: as text, or in a file. Neither: a template that you fill in. */
export interface TaskSource {
  readonly text?: string | undefined;
  readonly from?: string | undefined;
}

export interface AddedTask {
  readonly file: string;
  readonly warnings: readonly string[];
}

/** Adds a task to a shift: its file, its status column and its place in the Task Order. */
export async function addTask(world: World, paths: ShiftPaths, task: string, source: TaskSource): Promise<AddedTask> {
  checkTaskName(task);
  const file = paths.task(task);
  const given = await readSource(world, source, file);
  const document = given && parseTask(given.text, given.file);
  if (document) refuseOtherShells(document, given.file);
  if (document) checkScripts(document, given.file, (await readTable(paths)).header);
  if (document ? findUnwritten(document) : !existsSync(file)) refuseWhileRunning(paths, task);
  await createTaskFile(paths, task, document?.text, world.now);
  return { file, warnings: document ? taskWarnings(document, file) : [] };
}

async function readSource({ cwd }: World, { text, from }: TaskSource, target: string) {
  if (from === undefined) return text === undefined ? undefined : { text, file: target };
  const file = resolve(cwd, from);
  const read = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw readError(cause, file);
  });
  return { text: read, file };
}

/** A run reads the Task Order again and again. A task that is not written yet would end it. */
function refuseWhileRunning({ name, runLock }: ShiftPaths, task: string): void {
  if (currentHolder(runLock) === undefined) return;
  const hint = `write it first, then \`nightshift add-task ${name} ${task} --from FILE.md\``;
  throw new NightshiftError('usage', `${name} is running, and the task is not written yet`, hint);
}
