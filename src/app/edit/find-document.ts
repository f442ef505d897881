import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';

/** A document of a shift, as it is in force; `wanted` is `manager`, `env`, a task or the name of a file. */
export async function findDocument(paths: ShiftPaths, wanted: string): Promise<{ file: string; text: string }> {
  const files = new ShiftFiles(paths);
  const documents = new Map([
    ['manager', paths.manager],
    ['env', paths.env],
  ]);
  const tasks = (await files.taskOrder().catch(() => [])).map(({ name }) => name);
  for (const task of tasks) if (existsSync(paths.task(task))) documents.set(task, paths.task(task));
  const file = documents.get(wanted) ?? [...documents.values()].find((each) => basename(each) === wanted);
  if (file !== undefined) return { file, text: files.see(file).text ?? '' };
  const near = nearest(wanted, documents.keys());
  const hint = near ? `did you mean ${near}?` : `there are: ${[...documents.keys()].join(', ')}`;
  throw new NightshiftError('not-found', `${paths.name} has no file ${JSON.stringify(wanted)} to edit`, hint);
}
