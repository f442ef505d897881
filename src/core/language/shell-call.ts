import type { Refusal } from './shell-refusals.ts';
import type { Word } from './shell-word.ts';

/** What a program that runs code takes for code. */
export interface Call {
  /** Words that must not contain a value. */
  readonly code: readonly { readonly word: Word; readonly why: Refusal }[];
  /** The file that it runs. */
  readonly script?: Word | undefined;
  /** It runs its standard input. */
  readonly runsInput: boolean;
  /** The part of the code that a POSIX shell reads, so that it can be analysed. */
  readonly shellText?: string | undefined;
  /** It runs shell text. */
  readonly isShell?: boolean;
  /** The arguments of the code. */
  readonly values: readonly Word[];
  /** Of these, the ones that would be an option if they begin like one. */
  readonly leading?: readonly Word[];
}

export const NOTHING: Call = { code: [], runsInput: false, values: [] };

export function argumentOf(words: readonly Word[], option: RegExp): Word | undefined {
  return words.find((_, index) => option.test(words[index - 1]?.text ?? ''));
}
