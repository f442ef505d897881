import { createHash } from 'node:crypto';
import { claudeFiles } from './claude.ts';
import { CLAUDE_ADDITIONS } from './claude-hooks.ts';
import type { Addition } from './claude-settings.ts';
import { opencodeFiles } from './opencode.ts';

/** A file that `init` puts where a program looks for agents and commands. */
export interface KitFile {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly text: string;
}

/** What Nightshift needs to live in a program. */
export interface Kit {
  readonly files: () => KitFile[];
  /** A settings file of the person's that gets entries of ours. */
  readonly settings?: { readonly path: string; readonly additions: readonly Addition[] };
}

export const KITS: Readonly<Record<string, Kit>> = {
  opencode: { files: opencodeFiles },
  claude: { files: claudeFiles, settings: { path: '.claude/settings.json', additions: CLAUDE_ADDITIONS } },
};

/**
 * A file is ours by the mark in its last line, and as we wrote it if the hash there is that of the lines above. What has
 * no mark is a person's; what has another hash, a person has edited.
 */
export function marked({ path, text }: KitFile): string {
  const mark = `Written by nightshift init, which also brings it up to date. sha256: ${hashOf(text)}`;
  return `${text}\n${path.endsWith('.js') ? `// ${mark}` : `<!-- ${mark} -->`}\n`;
}

const MARK = /\n(?:<!--|\/\/) Written by nightshift init\b[^\n]* sha256: ([0-9a-f]{64})(?: -->)?\s*$/;

export type Origin = 'ours' | 'edited' | 'theirs';

export function originOf(text: string): Origin {
  const mark = MARK.exec(text);
  if (!mark) return 'theirs';
  return hashOf(text.slice(0, mark.index)) === mark[1] ? 'ours' : 'edited';
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
