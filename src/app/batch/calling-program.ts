import { basename } from 'node:path';
import { read, withAncestors } from '../../agents/process/leftovers.ts';
import type { Caller, Opener } from '../../core/model/opener.ts';
import { startOf } from '../../store/folder/process-life.ts';
import type { World } from '../world.ts';

/** Of the plugin in OpenCode: the conversation that runs this command, and all that are at work now. */
const SESSION = 'NIGHTSHIFT_SESSION';
const BUSY = 'NIGHTSHIFT_BUSY';

/** OpenCode and Claude Code mark the shells that they start. What outlived its program is a person's. */
export function callingProgram({ env }: Pick<World, 'env'>): Caller {
  const opener = openCode(Number(env.OPENCODE_PID)) ?? (env.CLAUDECODE ? claude() : undefined);
  if (!opener) return { busy: [] };
  const session = env[SESSION] || undefined;
  const busy = (env[BUSY] ?? '').split(' ');
  return { opener: { ...opener, ...(session === undefined ? {} : { session }) }, busy };
}

function openCode(pid: number): Opener | undefined {
  const started = pid > 0 ? startOf(pid) : undefined;
  return started === undefined ? undefined : { program: 'opencode', pid, started };
}

function claude(): Opener {
  const pid = [...withAncestors(process.pid)].find((each) => wordsOf(each).includes('claude'));
  const started = pid === undefined ? undefined : startOf(pid);
  return { program: 'claude', ...(pid === undefined || started === undefined ? {} : { pid, started }) };
}

/** The program, and the script if it is one of Node. */
function wordsOf(pid: number): string[] {
  return read(`/proc/${pid}/cmdline`)
    .split('\0')
    .slice(0, 2)
    .map((word) => basename(word).replace(/\.exe$/, ''));
}
