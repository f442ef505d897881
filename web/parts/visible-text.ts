import { escapeUnsafe } from '../../src/core/text/printable.ts';

/** Colours and cursor movements of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with one
const TERMINAL_CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\))/g;

/**
 * Text from cells, agents and files as a reader may see it (rule S9): control characters and those that change the
 * direction of text are written as escapes. Line breaks and tabs stay.
 */
export function visibleText(text: string): string {
  return escapeUnsafe(text.replaceAll('\r\n', '\n'));
}

/** The same for the output of programs, without the codes that colour it. */
export function visibleOutput(text: string): string {
  return visibleText(text.replace(TERMINAL_CODES, ''));
}

/** `text` in pieces: every second one contains what was searched for. */
export function splitAtHits(text: string, search: string): string[] {
  if (search === '') return [text];
  const [folded, wanted] = [text.toLowerCase(), search.toLowerCase()];
  // Few letters change their length in lower case; then the places would be wrong.
  if (folded.length !== text.length) return [text];
  const pieces: string[] = [];
  let end = 0;
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, end)) {
    pieces.push(text.slice(end, at), text.slice(at, at + wanted.length));
    end = at + wanted.length;
  }
  return [...pieces, text.slice(end)];
}
