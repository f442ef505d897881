import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { NightshiftError } from '../../core/model/errors.ts';
import type { World } from '../world.ts';
import { type DetachedRun, PROGRAM } from './detach.ts';

interface Scope {
  readonly task?: string | undefined;
  readonly rows?: string | undefined;
}

/**
 * Starts a run for a server that a client may end at any time, with all its descendants. `start --detach` runs in a
 * process of its own, which ends when the run has begun: then the run is not a descendant of the server any more.
 * Undefined: everything is done.
 */
export async function startInBackground(
  world: World,
  shift: string,
  scope: Scope = {},
): Promise<DetachedRun | undefined> {
  const flags = Object.entries(scope).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  return runInBackground(world, ['start', shift, ...flags]);
}

/** The same for any command that starts a run. */
export async function runInBackground(world: World, words: readonly string[]): Promise<DetachedRun | undefined> {
  const child = spawn(process.execPath, [PROGRAM, ...words, '--detach', '--json'], {
    cwd: world.cwd,
    env: world.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const last = printed.trimEnd().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) throw new NightshiftError('locked', `it did not start: ${last || complained.trim()}`);
  const answer = JSON.parse(last);
  if (answer.type === undefined) return answer;
  if (answer.type === 'error') throw new NightshiftError(answer.code, answer.message, answer.hint, answer);
  return undefined;
}
