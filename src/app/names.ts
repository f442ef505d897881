import { readdirSync } from 'node:fs';
import { KITS } from '../kit/kit.ts';
import { ShiftFiles } from '../store/folder/documents/shift-files.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { readTable } from '../store/folder/table/table-change.ts';

export { agentNames } from '../agents/registry.ts';

/** The programs that `init` writes agents and commands for. */
export const kitNames = Object.keys(KITS);

/** The tasks of a shift, also of one with mistakes elsewhere. */
export async function taskNames(paths: ShiftPaths): Promise<string[]> {
  try {
    return (await new ShiftFiles(paths).taskOrder()).map(({ name }) => name);
  } catch {
    const files = readdirSync(paths.folder).filter((file) => file.endsWith('.md') && file !== 'manager.md');
    return files.map((file) => file.slice(0, -'.md'.length));
  }
}

export async function lessonIds(paths: ShiftPaths): Promise<string[]> {
  return ((await new ShiftFiles(paths).read()).lessons?.book.lessons ?? []).map(({ id }) => id);
}

export async function columnNames(paths: ShiftPaths): Promise<readonly string[]> {
  return (await readTable(paths)).header;
}
