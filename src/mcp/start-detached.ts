import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { MAIN } from '../cli/detach.ts';
import type { Io } from '../cli/io.ts';
import { NightshiftError } from '../core/model/errors.ts';

interface Begun {
  readonly pid: number;
  readonly since: string;
  readonly log: string;
  readonly limits: string | null;
  readonly warnings: readonly string[];
}

/**
 * `start --detach` in a process of its own that ends when the run has begun: clients end their servers with all that
 * descends from them, and a run whose parent is gone does not. Undefined: all was done already.
 */
export async function startDetached(
  io: Io,
  shift: string,
  part: { readonly task?: string | undefined; readonly rows?: string | undefined },
): Promise<Begun | undefined> {
  const flags = Object.entries(part).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
  const child = spawn(process.execPath, [MAIN, 'start', shift, '--detach', '--json', ...flags], {
    cwd: io.cwd,
    env: io.env,
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
