import { limitFlagsIn } from './limit-flags.ts';
import type { Options } from './program.ts';

/** Those of `start` that say which part of a shift is run, and by whom. */
const PART = ['agent', 'model', 'task', 'rows', 'where', 'sample', 'seed'];

interface Flag {
  readonly name: string;
  /** Absent: the flag takes none. */
  readonly value?: string;
}

/** The options as they were given, whichever there are. */
export function flagsIn(options: Options): Flag[] {
  return Object.entries(options).flatMap(([key, value]): Flag[] => {
    if (value === undefined || value === false) return [];
    const name = `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return value === true ? [{ name }] : [value].flat().map((each) => ({ name, value: each }));
  });
}

/** What starts the same part of the shift again, as a line for a shell. */
export function startAgain(shift: string, options: Options): string {
  const part = Object.fromEntries(PART.map((key) => [key, options[key]]));
  return ['nightshift start', shift, ...flagsIn(part).map(spell)].join(' ');
}

/** How to go on with it within the same limits. What is done can't be in a sample again. */
export function howToGoOn(shift: string, options: Options): string {
  const line = [startAgain(shift, options), ...flagsIn(limitFlagsIn(options)).map(spell)].join(' ');
  return `\`${line}\` goes on${options.sample === undefined ? '' : ', with a sample of what is left'}`;
}

function spell({ name, value }: Flag): string {
  if (value === undefined) return name;
  return `${name}${value.startsWith('-') ? '=' : ' '}${shellWord(value)}`;
}

export function shellWord(text: string): string {
  return /^[\w./:@%+,=][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
