import type { Refusal } from './shell-refusals.ts';
import type { Word } from './shell-word.ts';

/** What a program that runs code takes for code. */
export interface Call {
  /** Words that no value may stand in. */
  readonly code: readonly { readonly word: Word; readonly why: Refusal }[];
  /** The file that it runs. */
  readonly script?: Word | undefined;
  /** What comes in on standard input is run. */
  readonly runsInput: boolean;
  /** Of the code: what a POSIX shell reads, so that it can be looked into. */
  readonly shellText?: string | undefined;
  /** What it runs is shell text. */
  readonly isShell?: boolean;
  /** What the code is given. */
  readonly values: readonly Word[];
  /** Of those: what is read as an option if it begins like one. */
  readonly leading?: readonly Word[];
}

export const NOTHING: Call = { code: [], runsInput: false, values: [] };

export function argumentOf(words: readonly Word[], option: RegExp): Word | undefined {
  return words.find((_, index) => option.test(words[index - 1]?.text ?? ''));
}
