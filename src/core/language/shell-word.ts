import type { Refusal } from './shell-refusals.ts';

/** How the shell reads the place of a placeholder. */
export type Standing = Accepted | { readonly quoting: 'refused'; readonly why: Refusal };
export interface Accepted {
  readonly quoting: Quoting;
  /** The delimiters of all enclosing here-documents, as one text; a line that equals one of them ends it. */
  readonly delimiters: string;
  /** The program that would read the value as an option if it begins with `-`. */
  readonly optionOf?: string;
}
export type Quoting = 'bare' | 'double' | 'single' | 'here-document' | 'comment';

/** Replaces a placeholder in the source; the list of holes decides, not this character. */
export const HOLE = '\uFFFC';

/** One word of a command. Offsets refer to the block. */
export interface Word {
  readonly start: number;
  readonly end: number;
  readonly raw: string;
  /** Without its quotes; expansions as written. */
  readonly text: string;
  /** Only plain characters, so that it may be a reserved word. */
  readonly plain: boolean;
  /** The word begins with the value of a cell, which may begin with `-`. */
  readonly startsWithHole: boolean;
  /** Also inside a `$( )` of the word. */
  readonly hasHole: boolean;
  /** What the shell expands in it: names of variables, `(` for the output of commands, the hole for a value. */
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
