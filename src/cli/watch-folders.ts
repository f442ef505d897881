import { agentEnvironment } from '../agents/environment.ts';
import { runProcess } from '../agents/process.ts';
import { listShifts, type ShiftPaths, shiftPaths, shiftsFolder } from '../store/layout.ts';
import { currentHolder } from '../store/run-lock.ts';
import { Folders } from '../watch/folders.ts';
import type { Io } from './io.ts';

const GIT_MS = 60_000;
/** No program that a repository's configuration names is run. */
const SAFELY = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];

/** The watch over the folders that the agents of a shift work in. */
export function watchFolders({ root, name }: ShiftPaths, io: Io, warn: (message: string) => void): Folders {
  const own = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' };
  const env = agentEnvironment({ caller: io.env, passEnv: [], secrets: {}, own });
  return new Folders({
    leftOut: shiftsFolder(root),
    git: async (folder, args, signal) => {
      const printed: string[] = [];
      const ended = await runProcess({
        file: 'git',
        args: [...SAFELY, ...args],
        cwd: folder,
        env,
        signal: AbortSignal.any([signal, AbortSignal.timeout(GIT_MS)]),
        keepBytes: 0,
        onOutput: (stream, text) => {
          if (stream === 'stdout') printed.push(text);
        },
      });
      return ended.kind === 'exited' && ended.code === 0 ? printed.join('') : undefined;
    },
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
