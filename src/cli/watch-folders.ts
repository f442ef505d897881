import { listShifts, type ShiftPaths, shiftPaths, shiftsFolder } from '../store/layout.ts';
import { currentHolder } from '../store/run-lock.ts';
import { Folders } from '../watch/folders.ts';
import { gitProgram } from './git-program.ts';
import type { Io } from './io.ts';
import { outputFinder } from './own-output.ts';

/** The watch over the folders that the agents of a shift work in. */
export function watchFolders({ root, name }: ShiftPaths, io: Io, warn: (message: string) => void): Folders {
  return new Folders({
    leftOut: shiftsFolder(root),
    git: gitProgram(root, io),
    ownOutput: outputFinder(),
    hasNeighbours: () => listShifts(root).some((other) => other !== name && isRun(root, other)),
    warn,
  });
}

/** A folder that can't be a shift's is run by nobody. */
function isRun(root: string, shift: string): boolean {
  try {
    return currentHolder(shiftPaths(root, shift).runLock) !== undefined;
  } catch {
    return false;
  }
}
