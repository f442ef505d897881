import { Lexer } from './shell-lexer.ts';
import { unsure } from './shell-refusals.ts';
import type { Standing } from './shell-words.ts';

/**
 * Reads a POSIX shell block just far enough to say how each hole (an offset of `source`) is quoted, and whether its
 * value would be read as shell text again. In doubt it stops, and refuses the holes of that command and all after it:
 * a wrong guess would run a cell.
 */
export function findStandings(source: string, holes: readonly number[], firstLine: number): Map<number, Standing> {
  const lexer = new Lexer(source, holes);
  const doubt = lexer.read();
  const standings = new Map(lexer.standings);
  if (doubt === undefined) return standings;
  const line = firstLine + source.slice(0, doubt.at).split('\n').length - 1;
  const why = unsure(doubt.what, line);
  for (const hole of holes) {
    const isKnown = standings.has(hole) && hole < lexer.openCommand;
    if (!isKnown && standings.get(hole)?.quoting !== 'refused') standings.set(hole, { quoting: 'refused', why });
  }
  return standings;
}
