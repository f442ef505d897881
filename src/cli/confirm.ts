import type { Io } from './io.ts';

/** A question on the terminal. Enter, Ctrl-C and Ctrl-D mean no. */
export async function confirm(io: Io, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await io.ask(`${question} [y/N] `))?.trim() ?? '');
}
