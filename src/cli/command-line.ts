import { limitFlagsIn } from './limit-flags.ts';
import type { Options } from './program.ts';

/** Those of `start` that say which part of a shift is run, and by whom. */
const PART = ['agent', 'model', 'task', 'rows', 'where', 'sample', 'seed'];

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

/** What starts the same part of the shift again, as a line for a shell. */
export function startAgain(shift: string, options: Options): string {
  return lineOf(shift, flagsIn(partIn(options)));
}

/** What those who go on with a run should repeat: the part, and the limits. Each has a value. */
export function lastingFlags(options: Options): string[] {
  return wordsIn({ ...partIn(options), ...limitFlagsIn(options) });
}

/** How to go on with a run that had these flags. What is done can't be in a sample again. */
export function howToGoOn(shift: string, flags: readonly string[] = []): string {
  const read = flags.flatMap((word): Flag[] => {
    const [, name, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? [];
    return name === undefined ? [] : [{ name, value: value! }];
  });
  const isSample = read.some(({ name }) => name === '--sample');
  return `\`${lineOf(shift, read)}\` goes on${isSample ? ', with a sample of what is left' : ''}`;
}

function partIn(options: Options): Options {
  return Object.fromEntries(PART.map((key) => [key, options[key]]));
}

function lineOf(shift: string, flags: readonly Flag[]): string {
  return ['nightshift start', shift, ...flags.map(spell)].join(' ');
}

function spell({ name, value }: Flag): string {
  if (value === undefined) return name;
  return `${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

export function shellWord(text: string): string {
  return /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
