import type { Refusal } from './shell-refusals.ts';

/** How the shell reads the place where a placeholder stands. */
export type Standing = Accepted | { readonly quoting: 'refused'; readonly why: Refusal };
export interface Accepted {
  readonly quoting: Quoting;
  /** Those of all here-documents around it, as one text; a line of the block that is one of them ends it. */
  readonly delimiters: string;
  /** The program that would read the value as an option if it begins with `-`. */
  readonly optionOf?: string;
}
export type Quoting = 'bare' | 'double' | 'single' | 'here-document' | 'comment';

/** Stands for a placeholder in the source that the readers get; their list of holes decides, not this character. */
export const HOLE = '\uFFFC';

/** One word of a command. Offsets are those of the block. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly raw: string;
  /** Without its quotes; expansions as they are written. */
  readonly text: string;
  /** Plain characters only, so that it may be a reserved word. */
  readonly plain: boolean;
  /** The value of a cell is the beginning of the word, and might begin with `-`. */
  readonly startsWithHole: boolean;
  /** Also inside a `$( )` of the word. */
  readonly hasHole: boolean;
  /** What this shell puts into it: names of variables, `(` for the output of commands, the hole for a value. */
  readonly expands: readonly string[];
}

/** Shells differ here, or the block is malformed. */
export class Doubt extends Error {
  readonly what: string;
  readonly at: number;

  constructor(what: string, at: number) {
    super(what);
    this.what = what;
    this.at = at;
  }
}
