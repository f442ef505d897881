import { listShifts, type ShiftPaths, shiftPaths, shiftsFolder } from '../../store/folder/layout.ts';
import { currentHolder } from '../../store/folder/run-lock.ts';
import { Folders } from '../../watch/folders.ts';
import type { World } from '../world.ts';
import { gitProgram } from './git-program.ts';
import { outputFinder } from './own-output.ts';

/** Watches the folders in which the agents of a shift work. */
export function watchFolders({ root, name }: ShiftPaths, world: World, warn: (message: string) => void): Folders {
  return new Folders({
    leftOut: shiftsFolder(root),
    git: gitProgram(root, world),
    ownOutput: outputFinder(),
    hasNeighbours: () => listShifts(root).some((other) => other !== name && isRun(root, other)),
    warn,
  });
}

/** A folder that can't be a shift is not running. */
function isRun(root: string, shift: string): boolean {
  try {
    return currentHolder(shiftPaths(root, shift).runLock) !== undefined;
  } catch {
    return false;
  }
}
