import { Lexer } from './shell-lexer.ts';
import { type Refusal, unsure } from './shell-refusals.ts';
import { judge } from './shell-rule.ts';
import type { Standing } from './shell-word.ts';
import { filesRun, filesWrittenWith } from './shell-writes.ts';

/** What the other blocks of the task need to know about this one. */
export interface BlockFiles {
  readonly written: readonly string[];
  readonly run: readonly { readonly name: string; readonly line: number }[];
}

export function findFiles(source: string, holes: readonly number[], firstLine: number): BlockFiles {
  const lexer = new Lexer(source, holes);
  lexer.read();
  const run = filesRun(lexer).map(({ name, at }) => ({ name, line: lineAt(source, at, firstLine) }));
  return { written: filesWrittenWith(lexer), run };
}

/**
 * Reads a POSIX shell block far enough to tell how each hole (an offset of `source`) is quoted, and whether a program
 * could read its value as code. In doubt it refuses all holes of the block: a wrong guess would run a cell.
 */
export function findStandings(source: string, holes: readonly number[], firstLine: number): Map<number, Standing> {
  const lexer = new Lexer(source, holes);
  const lineOf = (offset: number) => lineAt(source, offset, firstLine);
  const doubt = lexer.read();
  const { refused, everywhere, options, optionOf } = judge(lexer);
  for (const { word, why } of refused) lexer.refuse(word.start, word.end, why);
  if (everywhere) lexer.refuse(0, source.length, everywhere.why(lineOf(everywhere.at)));
  for (const { word, program } of options) {
    const first = holes.find((hole) => hole >= word.start)!;
    lexer.markOption(first, first + 1, program);
  }
  if (optionOf) lexer.markOption(0, source.length, optionOf);
  if (doubt) refuseUnread(lexer, holes, unsure(doubt.what, lineOf(doubt.at)));
  return lexer.standings;
}

/** The rest that was not read may be anything, including a comment. */
function refuseUnread(lexer: Lexer, holes: readonly number[], why: Refusal): void {
  lexer.refuse(0, Number.POSITIVE_INFINITY, why);
  for (const hole of holes) if (!lexer.standings.has(hole)) lexer.standings.set(hole, { quoting: 'refused', why });
}

function lineAt(source: string, offset: number, firstLine: number): number {
  return firstLine + source.slice(0, offset).split('\n').length - 1;
}
