import type { Command, Lexer } from './shell-lexer.ts';
import { programOf, readCall } from './shell-programs.ts';
import type { Word } from './shell-word.ts';
import { HARMLESS, wrappedAt } from './shell-wrappers.ts';

/** Programs that name a file without writing it. */
const READERS = new Set(
  ': [ test ls cat head tail wc grep chmod stat file rm command type which echo printf sha256sum'.split(' '),
);

/**
 * Whether the block may write the file `name` that it runs: by a redirection, or because another command names it.
 * `isFile`: not a program found by its name.
 */
export function writesFile(block: Lexer, name: string, isFile: boolean): boolean {
  return redirectsTo(block, name, isFile) || (isFile && isNamedElsewhere(block, name));
}

export function redirectsTo({ commands }: Lexer, name: string, isFile: boolean): boolean {
  const redirections = commands.flatMap((command) => command.redirections);
  return redirections.some(({ operator, target }) => operator.includes('>') && mayName(target, name, isFile));
}

function mayName({ text, raw, expands }: Word, name: string, isFile: boolean): boolean {
  if (/^"?\$\{?NIGHTSHIFT_OUTPUT\}?"?$/.test(raw) || text.startsWith('/dev/')) return false;
  // An expansion may be anything, even with slashes: only what follows it is certain.
  const tail = expands.length === 0 ? `/${text}` : text.replace(/^.*(\$\{[^}]*\}|\$[\w@*]+|\)|`|\uFFFC)/s, '');
  if (tail.includes('/')) return tail.endsWith(`/${name}`);
  return isFile && name.endsWith(tail);
}

function isNamedElsewhere({ source, commands, comments }: Lexer, name: string): boolean {
  const passed = commands.flatMap((command) => [...runs(command), ...reads(command)]);
  let rest = source;
  for (const [start, end] of [...comments, ...passed.map((word) => [word.start, word.end] as const)]) {
    rest = rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end);
  }
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w.-])${literal}(?![\\w.-])`).test(rest);
}

/** The words that are run: the program, also behind wrappers, then scripts. */
function runs({ words }: Command): Word[] {
  const [first] = words;
  if (first === undefined) return [];
  const at = wrappedAt(programOf(first) ?? '', words);
  if (at !== undefined) return runs({ words: words.slice(at), redirections: [] });
  const scripts = HARMLESS.has(first.text) ? [] : words.flatMap((_, index) => readCall(words, index)?.script ?? []);
  return [first, ...scripts];
}

function reads({ words, redirections }: Command): readonly Word[] {
  const inputs = redirections.filter(({ operator }) => /^0?<$/.test(operator)).map(({ target }) => target);
  return words[0] && READERS.has(programOf(words[0]) ?? '') ? [...words, ...inputs] : inputs;
}

/** The files that a block writes by redirecting a command that contains a value. */
export function filesWrittenWith({ commands }: Lexer): string[] {
  const written = commands.flatMap(({ words, redirections }) => {
    const given = [...words, ...redirections.map(({ target }) => target)];
    const targets = redirections.filter(({ operator }) => operator.includes('>')).map(({ target }) => target);
    return words.length === 0 || given.some(({ hasHole }) => hasHole) ? targets : [];
  });
  return written.flatMap((word) => programOf(word) ?? []);
}

/** The files that a block runs, and where: programs with a path, and scripts. */
export function filesRun({ commands }: Lexer): { readonly name: string; readonly at: number }[] {
  const words = commands.flatMap((command) => runs(command).filter((word, at) => at > 0 || word.text.includes('/')));
  return words.flatMap((word) => {
    const name = programOf(word);
    return name === undefined ? [] : [{ name, at: word.start }];
  });
}
