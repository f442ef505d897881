import { CLAUDE_HOOKS } from './claude-hooks.ts';
import type { KitFile } from './kit.ts';
import { COMMANDS, DEV, MANAGER, QA } from './texts.ts';

/** Tools of Claude Code that our agents don't need. The hook denies them too, and any new ones. */
const USELESS = [
  'Agent',
  'EnterWorktree',
  'ExitWorktree',
  'Monitor',
  'NotebookEdit',
  'SendMessage',
  'Skill',
  'TaskStop',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
  'Workflow',
];

/** Claude Code has no search tools: its agents search in the shell. */
const SEARCH = `To look around, run one plain \`ls\`, \`find\` or \`grep\` at a time, with patterns between single quotes.`;

const BACKGROUND = `The agent works in the background. When you have started it, say so and end your turn: you are told when it is back. Do
not wait in a loop, do not look at its work in the meantime.`;

/** Where the files go, and the names of agents and commands there. */
interface Place {
  readonly folder: string;
  readonly prefix: string;
  /** In texts, and for the Agent tool. */
  readonly called: string;
}

const PROJECT: Place = { folder: '.claude/', prefix: 'nightshift-', called: 'nightshift-' };
const PLUGIN: Place = { folder: '', prefix: '', called: 'nightshift:' };

/** For Claude Code: subagents, and skills that you call as slash commands. */
export function claudeFiles(): KitFile[] {
  return filesIn(PROJECT);
}

/**
 * The same as a plugin, which is its own marketplace. Its name is the prefix of its agents and commands; a plugin has
 * hooks, but no permissions.
 */
export function claudePlugin(version: string): KitFile[] {
  const description = 'Works through a table of similar things with coding agents, unattended';
  const plugin = { name: 'nightshift', version, description, author: { name: 'Nightshift' }, license: 'MIT' };
  const plugins = [{ name: 'nightshift', source: './', description }];
  const market = { name: 'nightshift', owner: plugin.author, metadata: { description }, plugins };
  const json = (path: string, value: unknown) => ({ path, text: `${JSON.stringify(value, null, 2)}\n` });
  return [
    json(PLUGIN_MANIFEST, plugin),
    json('.claude-plugin/marketplace.json', market),
    json('hooks/hooks.json', { hooks: CLAUDE_HOOKS }),
    { path: 'README.md', text: README },
    ...filesIn(PLUGIN),
  ];
}

const README = `# Nightshift for Claude Code

Three agents and six commands to work through a table of similar things: \`/nightshift:create\` makes a shift from a table,
\`/nightshift:add-task\` says how one item is done and checked, \`/nightshift:start\` runs it. Hooks hold the agents to their
rules: they ask the program \`nightshift\`, which has to be on the PATH. Other conversations are left alone.
\`nightshift init --agent claude --plugin DIR\` wrote this folder, and brings it up to date.
`;

export const PLUGIN_MANIFEST = '.claude-plugin/plugin.json';

/**
 * Dev and qa have no list of tools, so that they get the MCP servers that a task may name: the hook decides which.
 */
function filesIn(place: Place): KitFile[] {
  const none = (tools: readonly string[]) => `disallowedTools: ${tools.join(', ')}`;
  return [
    agent(place, 'manager', 'Runs a Nightshift shift batch by batch', 'tools: Read, Bash, Agent', MANAGER),
    agent(place, 'dev', 'Does one task for one item of a Nightshift shift', none(USELESS), `${DEV}\n\n${SEARCH}`),
    agent(
      place,
      'qa',
      'Judges one item of a Nightshift shift, and changes nothing',
      none([...USELESS, 'Edit', 'Write'].sort()),
      `${QA}\n\n${SEARCH}`,
    ),
    ...Object.entries(COMMANDS).map(([name, { description, body }]) => skill(place, name, description, body)),
  ];
}

/** Commands that change nothing need no permission. Arguments are numbered from 0 there, and each is one word. */
function skill(place: Place, name: string, description: string, body: string): KitFile {
  const counted = body.replaceAll('$1', '$0').replaceAll('$2', '$ARGUMENTS');
  const text = name === 'start' ? `${counted}\n\n${BACKGROUND}` : counted;
  const head = [
    `name: ${place.prefix}${name}`,
    `description: ${description}`,
    'disable-model-invocation: true',
    ...(text.includes('nightshift status') ? ['allowed-tools: Bash(nightshift status *)'] : []),
  ];
  return file(`${place.folder}skills/${place.prefix}${name}/SKILL.md`, head, calledAs(place, text));
}

function agent(place: Place, role: string, description: string, tools: string, prompt: string): KitFile {
  const head = [`name: ${place.prefix}${role}`, `description: ${description}`, tools];
  return file(`${place.folder}agents/${place.prefix}${role}.md`, head, calledAs(place, prompt));
}

function calledAs({ called }: Place, text: string): string {
  const names = ['manager', 'dev', 'qa', ...Object.keys(COMMANDS)].join('|');
  return text.replace(new RegExp(`\\bnightshift-(?=(?:${names})\\b)`, 'g'), called);
}

function file(path: string, head: readonly string[], text: string): KitFile {
  return { path, text: `---\n${head.join('\n')}\n---\n\n${text}\n` };
}
