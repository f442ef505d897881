import { type Addition, HOOK_COMMAND } from './claude-settings.ts';

const NOT_CHECKED =
  'Nightshift could not check this, so it may not run. Stop, and tell the person to look at the PATH.';

/**
 * A hook runs in every conversation, so the shell checks first: it starts `nightshift` only for our agents. If that
 * is missing or fails, the call is denied (by exit code 2); other conversations continue.
 */
function command(roles: readonly string[], more: string, otherwise: string): string {
  const isOurs = roles.map((role) => `*'"agent_type":"nightshift'[-:]'${role}"'*${more}`).join('|');
  return `i=$(cat); case $i in ${isOurs}) printf %s "$i" | ${HOOK_COMMAND}${otherwise};; esac`;
}

interface Group {
  readonly matcher: string;
  readonly hooks: readonly { readonly type: 'command'; readonly command: string }[];
}

function group(matcher: string, line: string): Group {
  return { matcher, hooks: [{ type: 'command', command: line }] };
}

const EVERYBODY = ['manager', 'dev', 'qa'];

/** For the settings of a project, and for the plugin. */
export const CLAUDE_HOOKS: Readonly<Record<string, readonly Group[]>> = {
  // Decides what our agents may run, read and write.
  PreToolUse: [group('*', command(EVERYBODY, '', ` || { echo '${NOT_CHECKED}' >&2; exit 2; }`))],
  // Removes the tokens of others from what a command printed.
  PostToolUse: [group('Bash|Grep', command(EVERYBODY, "'--token '*", ''))],
  // Tells a manager whose context was compacted to stop.
  SessionStart: [group('compact', command(['manager'], '', ' || true'))],
};

/** The only command that your own conversation runs for a shift, when its manager is back. */
const STATUS = 'Bash(nightshift status *)';

/** What `init` adds to `.claude/settings.json`. */
export const CLAUDE_ADDITIONS: readonly Addition[] = [
  { path: ['permissions', 'allow'], value: STATUS },
  ...Object.entries(CLAUDE_HOOKS).flatMap(([event, groups]) =>
    groups.map((value) => ({ path: ['hooks', event], value })),
  ),
];
