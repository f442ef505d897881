import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import { SCRIPTS, SHELLS, type Shell } from '../completion-scripts.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [shell = '']: readonly string[], { json }: Options): Promise<number> {
  if (!isShell(shell)) {
    const near = nearest(shell, SHELLS);
    const hint = near ? `did you mean ${near}?` : `shells are: ${SHELLS.join(', ')}`;
    throw new NightshiftError('usage', `there is no completion for ${JSON.stringify(shell)}`, hint);
  }
  const script = SCRIPTS[shell];
  io.print(json ? JSON.stringify({ shell, script }) : script.trimEnd());
  return EXIT.done;
}

function isShell(name: string): name is Shell {
  return (SHELLS as readonly string[]).includes(name);
}
