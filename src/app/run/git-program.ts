import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { agentEnvironment } from '../../agents/environment.ts';
import { runProcess } from '../../agents/process/process.ts';
import type { Git } from '../../watch/repository.ts';
import type { World } from '../world.ts';

const GIT_MS = 60_000;

/** Git runs no program that the repository's configuration names, and fetches nothing. */
const SAFELY = [
  ...['core.fsmonitor=false', 'core.untrackedCache=false', 'core.hooksPath=/dev/null', 'protocol.allow=never'],
  // Without this, git lists nothing in a repository of another owner. It still runs nothing of theirs.
  'safe.directory=*',
].flatMap((setting) => ['-c', setting]);

/** `root`: the project. Agents may have put programs there, so git is never run from it. */
export function gitProgram(root: string, world: World): Git {
  const own = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: '', GIT_NO_LAZY_FETCH: '1' };
  const env = agentEnvironment({ caller: world.env, passEnv: [], secrets: {}, own });
  const file = findGit(env.PATH ?? '', root);
  return {
    defaultExcludes: join(env.XDG_CONFIG_HOME || join(env.HOME ?? '/', '.config'), 'git', 'ignore'),
    run: async ({ folder, args, input, signal }) => {
      const printed: string[] = [];
      const ended = await runProcess({
        file,
        args: [...SAFELY, ...args],
        cwd: folder,
        env,
        ...(input === undefined ? {} : { input }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(GIT_MS)]),
        keepBytes: 0,
        onOutput: (stream, text) => {
          if (stream === 'stdout') printed.push(text);
        },
      });
      if (ended.kind !== 'exited') return { kind: 'not-run' };
      return ended.code === 0 ? { kind: 'printed', text: printed.join('') } : { kind: 'refused' };
    },
  };
}

/** `npm run` and `npx` put folders of the project first in PATH, where an agent could leave a program named git. */
export function findGit(path: string, root: string): string {
  const files = path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'git'))
    .filter(isProgram);
  return files.find((file) => !file.startsWith(root + sep)) ?? files[0] ?? 'git';
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
