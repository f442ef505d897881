import { runProcess, shellOf } from '../../agents/process/process.ts';
import type { RunProgram } from '../../workspace/delivery/pull-request.ts';
import type { World } from '../world.ts';

/** Enough for a list of pull requests. */
const KEEP_BYTES = 1024 * 1024;

/** A shell starts the program, and ends with this code if there is none. */
const NOT_FOUND = 127;

/**
 * Programs such as `gh` run with the whole environment of the person: they need its credentials. With
 * `shiftFolder` they carry its mark: if a kill left one, the next run ends it before it looks for what it did.
 */
export function personProgram(world: World, shiftFolder?: string): RunProgram {
  return async ({ file, args, cwd, env, input, signal }) => {
    const given = Object.entries(world.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const mark = shiftFolder === undefined ? {} : { NIGHTSHIFT_SHIFT_DIR: shiftFolder };
    const ended = await runProcess({
      file: file === 'sh' ? shellOf({}) : file === 'bash' ? shellOf({ shell: 'bash' }) : file,
      args,
      cwd,
      env: {
        ...Object.fromEntries(given),
        GH_PROMPT_DISABLED: '1',
        NO_PROMPT: '1',
        GIT_TERMINAL_PROMPT: '0',
        ...mark,
        ...env,
      },
      ...(input === undefined ? {} : { input }),
      signal,
      keepBytes: KEEP_BYTES,
    });
    const said = { stdout: ended.stdout.text, stderr: ended.stderr.text };
    const isShell = file === 'sh' || file === 'bash';
    if (ended.kind === 'exited' && ended.code === NOT_FOUND && !isShell) return { kind: 'missing' };
    if (ended.kind === 'exited') return { kind: 'exited', code: ended.code, ...said };
    if (ended.kind === 'not-started') {
      return ended.fault === 'item' ? { kind: 'missing' } : { kind: 'not-run', reason: ended.reason };
    }
    return { kind: 'not-run', reason: `${file} was ended` };
  };
}
