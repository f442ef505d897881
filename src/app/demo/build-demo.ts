import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { isWorkLeft } from '../../core/schedule/next.ts';
import { cellsAt } from '../../core/schedule/plan.ts';
import { diskError } from '../../store/folder/files/atomic-write.ts';
import { listShifts, openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { addTask } from '../add-task.ts';
import { createShift } from '../create-shift.ts';
import { readItemsFile } from '../item-source.ts';
import { openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { NOTES } from './notes.ts';
import { SHIFT, SITE, TASKS } from './shift.ts';

const FOLDER = 'nightshift-demo';

/** Makes a small project with a shift, in a folder that is new or empty. Without a name, it finds a free one. */
export async function buildDemo(world: World, dir: string | undefined): Promise<ShiftPaths> {
  const root = await makeFolder(dir === undefined ? freeFolder(world.cwd) : resolve(world.cwd, dir));
  const file = await writeProject(root);
  const place = { ...world, cwd: root };
  const { table: items } = await readItemsFile(place, file);
  const paths = await createShift(place, SHIFT, { agent: 'shell', parallel: true, items });
  for (const [task, text] of Object.entries(TASKS)) await addTask(place, paths, task, { text });
  return paths;
}

/** The demo of this folder, to continue it; a new one if there is none, or nothing is left to do in it. */
export async function findOrBuildDemo(world: World): Promise<ShiftPaths> {
  const root = resolve(world.cwd, FOLDER);
  const found = listShifts(root).includes(SHIFT) ? openShift(root, SHIFT) : undefined;
  return found && (await isUnfinished(found)) ? found : buildDemo(world, undefined);
}

async function isUnfinished(paths: ShiftPaths): Promise<boolean> {
  const { snapshot } = await openAndCheck(paths);
  return isWorkLeft(snapshot, { includes: () => true }) || cellsAt(snapshot, 'in_progress').length > 0;
}

/** An earlier demo may hold something that you tried in it, so a second one gets its own folder. */
function freeFolder(cwd: string): string {
  for (let number = 1; ; number++) {
    const folder = resolve(cwd, number === 1 ? FOLDER : `${FOLDER}-${number}`);
    if (!existsSync(folder)) return folder;
  }
}

async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    const present = await readdir(folder);
    if (present.length === 0) return await realpath(folder);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST' || code === 'ENOTDIR') {
      const hint = 'name a folder that is new or empty: `nightshift demo DIR`';
      throw new NightshiftError('usage', `${folder} can't be a folder: there is a file in the way`, hint);
    }
    throw diskError(cause, folder);
  }
  const hint = 'name one that is new or empty (`nightshift demo DIR`), or remove it if it is an earlier demo';
  throw new NightshiftError('usage', `${folder} is not empty`, hint);
}

/** Returns the file with the items. */
async function writeProject(root: string): Promise<string> {
  const items = join(root, 'notes.csv');
  try {
    // With its own `.nightshift`, the demo is a project of its own, even inside another one.
    for (const folder of ['.nightshift', 'notes', 'site']) await mkdir(join(root, folder));
    for (const { name, text } of NOTES) await writeFile(join(root, 'notes', `${name}.md`), text);
    for (const [name, text] of Object.entries(SITE)) await writeFile(join(root, 'site', name), text);
    await writeFile(items, ['note,about', ...NOTES.map(({ name, about }) => `${name},${about}`), ''].join('\n'));
    return items;
  } catch (cause) {
    throw diskError(cause, root);
  }
}
