import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LessonBook } from '../../core/learning/lesson.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { type Items, parseItems } from '../../formats/items/items.ts';
import { renderLessons } from '../../formats/lessons.ts';
import { addTask, createManager } from '../../formats/manager.ts';
import { addColumns, createTable, type Table } from '../../formats/table.ts';
import { diskError } from './files/atomic-write.ts';
import { initRoot } from './init-root.ts';
import { type ShiftPaths, shiftPaths, shiftsFolder } from './layout.ts';
import { readError } from './table/table-file.ts';

export interface NewShift {
  readonly name: string;
  readonly created: string;
  readonly parallel: boolean;
  /** How many items run at once, from the first batch on. Without it, batches grow. */
  readonly batchSize?: number | undefined;
  readonly settings: Readonly<Record<string, string>>;
  readonly items?: Table | undefined;
  /** The texts of its tasks by name, in Task Order. The caller has checked them. */
  readonly tasks?: Readonly<Record<string, string>> | undefined;
  /** Lessons to start with. */
  readonly lessons?: LessonBook | undefined;
  /** Files of a ready shift, by name. A `manager.md` among them is used instead of a new one. */
  readonly documents?: Readonly<Record<string, string>> | undefined;
}

/** What the files of a new shift hold. */
export function newShiftFiles({ items, tasks = {}, ...shift }: NewShift) {
  const names = Object.keys(tasks);
  const rows = items ?? createTable(['row'], []);
  const columns = names.map((name) => ({ name, value: 'todo' }));
  const manager = createManager({ ...shift, items: rows.rowCount });
  return { manager: names.reduce(addTask, manager), table: names.length > 0 ? addColumns(rows, columns) : rows, tasks };
}

/** Creates a shift: the whole folder, or nothing. */
export async function createShift(root: string, shift: NewShift): Promise<ShiftPaths> {
  const paths = shiftPaths(root, shift.name);
  if (existsSync(paths.folder)) {
    const hint = 'choose another name, or archive it first';
    throw new NightshiftError('usage', `there is already a shift ${shift.name}`, hint, { file: paths.folder });
  }
  const { manager, table, tasks } = newShiftFiles(shift);
  await initRoot(root);
  let building: string | undefined;
  try {
    building = await mkdtemp(join(shiftsFolder(root), '.new-'));
    const documents = { 'manager.md': manager, ...shift.documents };
    for (const [file, text] of Object.entries(documents)) await writeFile(join(building, file), text);
    await writeFile(join(building, 'table.csv'), table.bytes);
    await writeFile(join(building, 'table.csv.lock'), '');
    for (const [name, text] of Object.entries(tasks)) await writeFile(join(building, `${name}.md`), text);
    if (shift.lessons) await writeFile(join(building, 'lessons.json'), renderLessons(shift.lessons));
    // mkdtemp creates folders that only their owner can read; a shift is shared like its project.
    await chmod(building, 0o777 & ~process.umask());
    await rename(building, paths.folder);
    return paths;
  } catch (cause) {
    if (building !== undefined) await rm(building, { recursive: true, force: true });
    throw diskError(cause, paths.folder);
  }
}

/** Items from outside of the shift. */
export async function readItems(file: string): Promise<Items> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw readError(cause, file);
  });
  return parseItems(bytes, file);
}
