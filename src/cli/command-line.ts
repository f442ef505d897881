import type { RunRequest } from '../core/schedule/run-request.ts';
import { limitFlagsIn } from './limit-flags.ts';
import type { Options } from './program.ts';

/** Options of `start` and `retry` that say what is run and by which agent. */
const PART = ['agent', 'model', 'task', 'rows', 'where', 'sample', 'seed', 'reason', 'all', 'fleet', 'insecure'];

/** The options as words of a command line. */
export function wordsIn(options: Options): string[] {
  return Object.entries(options).flatMap(([key, value]) => {
    if (value === undefined || value === false) return [];
    const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [name] : [value].flat().map((each) => `${name}=${each}`);
  });
}

/** The request that repeats this run: its scope and its limits. */
export function requestOf(command: RunRequest['command'], options: Options): RunRequest {
  return { command, flags: [...partFlags(options), ...wordsIn(limitFlagsIn(options))] };
}

/** The scope alone. */
export function partFlags(options: Options): string[] {
  return wordsIn(Object.fromEntries(PART.map((key) => [key, options[key]])));
}
