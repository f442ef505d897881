import type { Again } from '../core/limits.ts';
import { limitFlag, limitFlagsIn } from './limit-flags.ts';
import type { Options } from './program.ts';

/** Those of `start` and `retry` that say which part of a shift is run, and by whom. */
const PART = ['agent', 'model', 'task', 'rows', 'where', 'sample', 'seed', 'reason', 'only'];

/** What of it chooses item-tasks. */
const CHOICE = ['--task', '--rows', '--where', '--sample', '--seed'];

interface Flag {
  readonly name: string;
  /** Absent: the flag takes none. */
  readonly value?: string;
}

/** The options as they were given, whichever there are, each as one word. */
export function wordsIn(options: Options): string[] {
  return flagsIn(options).map(({ name, value }) => (value === undefined ? name : `${name}=${value}`));
}

function flagsIn(options: Options): Flag[] {
  return Object.entries(options).flatMap(([key, value]): Flag[] => {
    if (value === undefined || value === false) return [];
    const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [{ name }] : [value].flat().map((each) => ({ name, value: each }));
  });
}

/** What goes on with the same part of the shift, as a line for a shell. */
export function commandAgain(command: 'start' | 'retry', shift: string, options: Options): Again {
  const lasting = { ...partIn(options), ...limitFlagsIn(options) };
  return (limit) => lineOf(command, shift, flagsIn({ ...lasting, ...(limit ? limitFlag(limit) : {}) }));
}

/** What those who go on with a run should repeat: the part, and the limits. Each has a value. */
export function lastingFlags(options: Options): string[] {
  return wordsIn({ ...partIn(options), ...limitFlagsIn(options) });
}

/** What tries all that failed again, as a run with these flags did it. `isOnly`: and nothing else that is left. */
export function retryLine(shift: string, flags: readonly string[] = [], isOnly = false): string {
  const kept = readFlags(flags).filter(({ name }) => !CHOICE.includes(name));
  return lineOf('retry', shift, isOnly ? [...kept, { name: '--only' }] : kept);
}

/** How to go on with a run that had these flags. */
export function howToGoOn(shift: string, flags: readonly string[] = []): string {
  return `\`${lineOf('start', shift, readFlags(flags))}\` goes on`;
}

function readFlags(words: readonly string[]): Flag[] {
  return words.flatMap((word): Flag[] => {
    const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    return name === undefined ? [] : [{ name, value: value! }];
  });
}

function partIn(options: Options): Options {
  return Object.fromEntries(PART.map((key) => [key, options[key]]));
}

function lineOf(command: string, shift: string, flags: readonly Flag[]): string {
  return ['nightshift', command, shift, ...flags.map(spell)].join(' ');
}

function spell({ name, value }: Flag): string {
  if (value === undefined) return name;
  return `${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

export function shellWord(text: string): string {
  return /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
