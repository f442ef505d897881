import { Lexer } from './shell-lexer.ts';
import { type Refusal, unsure } from './shell-refusals.ts';
import { judge } from './shell-rule.ts';
import type { Standing } from './shell-word.ts';

/**
 * Reads a POSIX shell block just far enough to say how each hole (an offset of `source`) is quoted, and whether a program
 * could read its value as code. In doubt all holes of the block are refused: a wrong guess would run a cell.
 */
export function findStandings(source: string, holes: readonly number[], firstLine: number): Map<number, Standing> {
  const lexer = new Lexer(source, holes);
  const lineOf = (offset: number) => firstLine + source.slice(0, offset).split('\n').length - 1;
  const doubt = lexer.read();
  const { refused, everywhere } = judge(lexer);
  for (const { word, why } of refused) lexer.refuse(word.start, word.end, why);
  if (everywhere) lexer.refuse(0, source.length, everywhere.why(lineOf(everywhere.at)));
  if (doubt) refuseUnread(lexer, holes, unsure(doubt.what, lineOf(doubt.at)));
  return lexer.standings;
}

/** What was not reached may be anything, also a comment. */
function refuseUnread(lexer: Lexer, holes: readonly number[], why: Refusal): void {
  lexer.refuse(0, Number.POSITIVE_INFINITY, why);
  for (const hole of holes) if (!lexer.standings.has(hole)) lexer.standings.set(hole, { quoting: 'refused', why });
}
