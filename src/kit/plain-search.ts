import type { Facts } from './nightshift-guard/places.ts';
import { wordsOf } from './nightshift-guard/plain-line.ts';
import { refusal } from './nightshift-guard/rules.ts';
import { outsideRefusal } from './outside.ts';

/**
 * Claude Code has no search tools: its agents search in the shell, with its own versions of `grep` and `find` that
 * can also run programs and write files. So only known options are allowed.
 */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  ls: /^-[a-zA-Z1]+$/,
  find: /^-(?:name|iname|path|ipath|type|maxdepth|mindepth|not|o|a|empty|size|mtime|mmin|newer|print|prune|ls)$/,
  grep: /^-(?:[rniIlLcvwxEFohHs]+|[ABCm]\d*|e|-(?:include|exclude|exclude-dir)=.*)$/,
};

/** The search to run, or why it is denied. Nothing if this is not a search. */
export function plainSearch(
  line: string,
  facts: Facts,
): { readonly line: string } | { readonly why: string } | undefined {
  const words = wordsOf(line) ?? [];
  const [program = '', ...rest] = words;
  const known = Object.hasOwn(OPTIONS, program) ? OPTIONS[program] : undefined;
  if (known === undefined) return undefined;
  const option = rest.find((word) => word.startsWith('-') && !known.test(word));
  if (option !== undefined) return { why: `${program} ${option} is not for the agents of Nightshift.` };
  const paths = program === 'grep' ? grepPaths(rest) : rest.filter((word) => !word.startsWith('-'));
  for (const path of paths) {
    const why = outsideRefusal(path, facts) ?? (program === 'grep' ? grepRefusal(path, facts) : undefined);
    if (why !== undefined) return { why };
  }
  // Prompts contain tokens, and `.env` contains secrets.
  return { line: program === 'grep' ? `${line.trim()} --exclude-dir=.nightshift` : line };
}

function grepPaths(rest: readonly string[]): string[] {
  const plain = rest.filter((word, i) => !word.startsWith('-') && rest[i - 1] !== '-e');
  return rest.includes('-e') ? plain : plain.slice(1);
}

function grepRefusal(path: string, facts: Facts): string | undefined {
  const given = facts.realOf(path.startsWith('/') ? path : `${facts.folder}/${path}`);
  if (/\/\.nightshift(?:\/|$)/i.test(given)) return `${path} is inside .nightshift: read single files there.`;
  return refusal({ kind: 'search', path }, facts);
}
