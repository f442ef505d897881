/**
 * What the three agents of Nightshift may do inside another program. The rules know nothing of that program: an adapter
 * describes what is about to happen (`Action`) and who does it (`Facts`), and passes on the answer. The OpenCode plugin
 * is one adapter; `nightshift hook`, which Claude Code calls before each use of a tool, is another. To write one:
 *
 * - Call `roleOf` with the agent's name; leave agents without a role alone.
 * - Turn each use of a tool into one `Action` for every path that it names. A tool that the rules don't know (MCP, new
 *   tools) is an `other` with all its arguments.
 * - Before the tool runs, ask `refusal`: it returns the sentence to deny it with, or nothing.
 * - `withoutSecrets` cleans what a search or a command printed, if the program lets its adapter change that.
 *
 * These files are installed as compiled, next to the plugin, and import nothing but each other and Node.
 */
import { openShellRefusal } from './open-shell.ts';
import { type Facts, nameRefusal, readRefusal, searchRefusal, writeRefusal } from './places.ts';
import { isDevStatus, plainLineRefusal } from './plain-line.ts';

export type Action =
  /** `folder`: where it runs, if not in the folder of the facts. */
  | { readonly kind: 'shell'; readonly line: string; readonly folder?: string }
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string }
  /** Names or contents of files below `path`. `glob`: which of them. */
  | { readonly kind: 'search'; readonly path?: string; readonly glob?: string }
  | { readonly kind: 'start'; readonly agent: string }
  | { readonly kind: 'other'; readonly input: unknown };

/** Why this is denied; nothing if these rules allow it. */
export function refusal(action: Action, facts: Facts): string | undefined {
  switch (action.kind) {
    case 'shell':
      return shellRefusal(action.line, action.folder === undefined ? facts : { ...facts, folder: action.folder });
    case 'read':
      return readRefusal(action.path, facts);
    case 'write':
      if (facts.role !== 'dev') return `The ${facts.role} of Nightshift changes nothing.`;
      return writeRefusal(action.path, facts);
    case 'search':
      return searchRefusal(action.path ?? '.', action.glob, facts);
    case 'start':
      return startRefusal(action.agent, facts);
    case 'other':
      return first(wordsIn(action.input), (word) => nameRefusal(word, facts));
  }
}

function shellRefusal(line: string, facts: Facts): string | undefined {
  if (facts.role !== 'dev') return plainLineRefusal(line, facts);
  // Its reason and its recommendations are prose.
  if (isDevStatus(line)) return undefined;
  return (facts.hasShell ? undefined : plainLineRefusal(line, facts)) ?? openShellRefusal(line, facts);
}

/** These rules would not apply to another kind of agent. */
function startRefusal(agent: string, { role }: Facts): string | undefined {
  if (role === 'manager') {
    return /^nightshift-(dev|qa)$/.test(agent) ? undefined : 'A manager starts nightshift-dev and nightshift-qa only.';
  }
  return `The ${role} of Nightshift starts no other agents.`;
}

/** Arguments that may be paths: text with spaces is prose, or the content of a file. */
function wordsIn(input: unknown): string[] {
  if (typeof input === 'string') {
    const word = input.replace(/^file:\/\//, '');
    return /^(?!\w+:\/\/)\S{1,4096}$/.test(word) ? [word] : [];
  }
  return typeof input === 'object' && input !== null ? Object.values(input).flatMap(wordsIn) : [];
}

function first<T>(list: readonly T[], find: (each: T) => string | undefined): string | undefined {
  for (const each of list) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Removes tokens, and what a search found in prompts and in the `.env` of a shift. OpenCode prints the path of a file
 * on its own line, and the matches indented below it.
 */
export function withoutSecrets(output: string): string {
  let isHidden = false;
  const lines = output.split('\n').filter((line) => {
    if (/^\s/.test(line) || line === '') return !isHidden;
    isHidden = HIDDEN.test(line);
    return true;
  });
  return lines.join('\n').replace(/--token \w+/g, '--token (of somebody else)');
}

const HIDDEN = /\.nightshift[\\/][^\\/]+[\\/](?:\.env(?:\.in-force)?|\.engine[\\/]prompts[\\/].*):$/i;
