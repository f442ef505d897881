import { basename } from 'node:path';
import { read, withAncestors } from '../../agents/process/leftovers.ts';
import type { Caller, Opener } from '../../core/model/opener.ts';
import { startOf } from '../../store/folder/process-life.ts';
import type { World } from '../world.ts';

/** Set by the plugin in OpenCode: the conversation that runs this command, and all that work now. */
const SESSION = 'NIGHTSHIFT_SESSION';
const BUSY = 'NIGHTSHIFT_BUSY';

/** OpenCode and Claude Code mark the shells that they start. A shell whose program is gone counts as a person's. */
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

/** The names of the program and, if it is Node, of its script. */
function wordsOf(pid: number): string[] {
  return read(`/proc/${pid}/cmdline`)
    .split('\0')
    .slice(0, 2)
    .map((word) => basename(word).replace(/\.exe$/, ''));
}
