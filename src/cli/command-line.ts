import type { RunRequest } from '../core/schedule/run-request.ts';
import { limitFlagsIn } from './limit-flags.ts';
import type { Options } from './program.ts';

/** Those of `start` and `retry` that say which part of a shift is run, and by whom. */
const PART = ['agent', 'model', 'task', 'rows', 'where', 'sample', 'seed', 'reason', 'all'];

/** The options as they were given, whichever there are, each as one word. */
export function wordsIn(options: Options): string[] {
  return Object.entries(options).flatMap(([key, value]) => {
    if (value === undefined || value === false) return [];
    const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [name] : [value].flat().map((each) => `${name}=${each}`);
  });
}

/** What asks for the same run again: the part, and the limits. */
export function requestOf(command: RunRequest['command'], options: Options): RunRequest {
  return { command, flags: [...partFlags(options), ...wordsIn(limitFlagsIn(options))] };
}

/** Without the limits. */
export function partFlags(options: Options): string[] {
  return wordsIn(Object.fromEntries(PART.map((key) => [key, options[key]])));
}
