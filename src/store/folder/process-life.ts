import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Opener } from '../../core/model/opener.ts';

/** The start time of a process, as the system reports it. Undefined if there is no such process. */
export function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
    return stdout?.trim() || undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the program is in brackets and may contain anything. `starttime` is the 20th word after it.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? undefined : rest[18];
  } catch {
    return undefined;
  }
}

/** If unknown, it counts as alive: then the expiry of the lease decides. */
export function isAlive({ pid, started }: Opener): boolean {
  return pid === undefined || startOf(pid) === started;
}
