import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { type DetachedRun, PROGRAM } from '../app/run/detach.ts';
import type { World } from '../app/world.ts';
import { NightshiftError } from '../core/model/errors.ts';

/**
 * Runs `start --detach` in a process of its own, which ends when the run has begun. Clients end their servers with all
 * descendants; a run whose parent is gone is none. Undefined: everything is done.
 */
export async function startDetached(
  world: World,
  shift: string,
  part: { readonly task?: string | undefined; readonly rows?: string | undefined },
): Promise<DetachedRun | undefined> {
  const flags = Object.entries(part).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const child = spawn(process.execPath, [PROGRAM, 'start', shift, '--detach', '--json', ...flags], {
    cwd: world.cwd,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = printed.trimEnd().split('\n').at(-1) ?? '';
  if (last === '') throw new Error(`start ended without an answer: ${complained}`);
  const answer = JSON.parse(last);
  if (answer.type === undefined) return answer;
  if (answer.type === 'error') throw new NightshiftError(answer.code, answer.message, answer.hint, answer);
  return undefined;
}
