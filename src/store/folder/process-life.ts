import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Opener } from '../../core/model/opener.ts';

/** When a process was started, in the words of the system; undefined if there is none with this id. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout?.trim() || undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program stands in brackets, and may hold anything. `starttime` is the 20th word behind it.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

/** What is not known counts as alive: then the time without a sign of life decides. */
export function isAlive({ pid, started }: Opener): boolean {
  return pid === undefined || startOf(pid) === started;
}
