import { type Addition, HOOK_COMMAND } from './claude-settings.ts';

const NOT_CHECKED =
  'Nightshift could not check this, so it may not run. Stop, and tell the person to look at the PATH.';

/**
 * A hook runs in every conversation, so the shell looks first: only for our agents is `nightshift` started. If that is not
 * found or fails, the call is refused (2 is the code that refuses); other conversations go on.
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
  // What our agents may run, read and write.
  PreToolUse: [group('*', command(EVERYBODY, '', ` || { echo '${NOT_CHECKED}' >&2; exit 2; }`))],
  // Tokens of others are taken out of what a command printed.
  PostToolUse: [group('Bash|Grep', command(EVERYBODY, "'--token '*", ''))],
  // A manager whose context was compacted is told to stop.
  SessionStart: [group('compact', command(['manager'], '', ' || true'))],
};

/** The one thing that a person's own conversation does for a shift, when its manager is back. */
const STATUS = 'Bash(nightshift status *)';

/** What `init` adds to `.claude/settings.json`. */
export const CLAUDE_ADDITIONS: readonly Addition[] = [
  { path: ['permissions', 'allow'], value: STATUS },
  ...Object.entries(CLAUDE_HOOKS).flatMap(([event, groups]) =>
    groups.map((value) => ({ path: ['hooks', event], value })),
  ),
];
