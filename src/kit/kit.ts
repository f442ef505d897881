import { createHash } from 'node:crypto';
import { claudeFiles } from './claude.ts';
import { CLAUDE_ADDITIONS } from './claude-hooks.ts';
import type { Addition } from './claude-settings.ts';
import { opencodeFiles } from './opencode.ts';

/** A file that `init` installs where a program looks for agents and commands. */
export interface KitFile {
  /** Relative to the project's folder. */
  readonly path: string;
  readonly text: string;
}

/** What Nightshift installs in a program. */
export interface Kit {
  readonly files: () => KitFile[];
  /** One of your settings files that gets our entries. */
  readonly settings?: { readonly path: string; readonly additions: readonly Addition[] };
}

export const KITS: Readonly<Record<string, Kit>> = {
  opencode: { files: opencodeFiles },
  claude: { files: claudeFiles, settings: { path: '.claude/settings.json', additions: CLAUDE_ADDITIONS } },
};

/**
 * A file is ours if its last line has our mark, and unchanged if the hash there matches the lines above. A file
 * without a mark is yours; one with another hash was edited by you.
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
