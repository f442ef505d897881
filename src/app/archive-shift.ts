import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../core/model/errors.ts';
import { countItems } from '../core/schedule/plan.ts';
import { count } from '../core/text/count.ts';
import { ShiftFiles } from '../store/folder/documents/shift-files.ts';
import { diskError } from '../store/folder/files/atomic-write.ts';
import { archiveFolder, type ShiftPaths } from '../store/folder/layout.ts';
import { lockForCommand } from '../store/folder/run-lock.ts';
import { FolderWorkspaceRecords } from '../store/folder/workspace-records.ts';
import { openAndCheck } from './open-shift.ts';
import type { World } from './world.ts';

/** Moves a shift to `.nightshift/archive` and returns its new folder. `force`: even if it is not finished. */
export async function archiveShift(world: World, paths: ShiftPaths, force = false): Promise<string> {
  if (!force) {
    await refuseUnfinished(paths);
    await refuseWorkspaces(paths);
  }
  const now = new Date(world.now()).toISOString();
  const archive = archiveFolder(paths.root);
  await new ShiftFiles(paths).prepare();
  // Held while the folder moves, so that no run can start meanwhile.
  using _lock = await lockForCommand(paths, 'archive', world.now());
  const target = freeName(join(archive, `${now.slice(0, 10)}-${paths.name}`));
  try {
    await mkdir(archive, { recursive: true });
    await rename(paths.folder, target);
  } catch (cause) {
    throw diskError(cause, target);
  }
  return target;
}

async function refuseUnfinished(paths: ShiftPaths): Promise<void> {
  const { total, completed } = countItems((await openAndCheck(paths)).snapshot);
  if (completed === total) return;
  const hint = `\`nightshift status ${paths.name}\` says why; --force archives it as it is`;
  throw new NightshiftError('usage', `${paths.name} has ${count(total - completed, 'item')} not completed yet`, hint);
}

/** Their folders are outside of the shift: once it is archived, no command lists them. */
async function refuseWorkspaces(paths: ShiftPaths): Promise<void> {
  const there = (await new FolderWorkspaceRecords(paths).all()).filter(({ folder }) => existsSync(folder));
  if (there.length === 0) return;
  const isHeld = there.some(({ delivery }) => delivery?.state === 'held');
  const hints = [
    ...(isHeld ? [`\`nightshift deliver ${paths.name}\` sends what waits for approval`] : []),
    `\`nightshift workspaces ${paths.name} prune\` removes what is safe`,
    '--force leaves all where they are',
  ];
  const hint = hints.join('; ');
  throw new NightshiftError('usage', `${paths.name} still has ${count(there.length, 'workspace')}`, hint);
}

/** A second shift of that name on the same day gets a number. */
function freeName(wanted: string): string {
  for (let number = 1; ; number++) {
    const target = number === 1 ? wanted : `${wanted}-${number}`;
    if (!existsSync(target)) return target;
  }
}
