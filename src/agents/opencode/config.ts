import type { McpLocalConfig, McpRemoteConfig, PermissionRule } from '@opencode-ai/sdk/v2/client';
import type { Role } from '../../core/model/model.ts';
import type { McpServer } from '../mcp-json.ts';

/** Tools that only read. */
const READING = ['read', 'glob', 'grep', 'list'];
/** `doom_loop`: a dev may run the same test three times in a row. Nothing stays on `ask`: no one could answer. */
const ALWAYS = ['external_directory', 'doom_loop', 'StructuredOutput'];

const OWN_TOOLS: Readonly<Record<Role, readonly string[]>> = {
  dev: [...READING, 'edit', ...ALWAYS],
  qa: [...READING, ...ALWAYS],
  manager: ['StructuredOutput'],
};

export function isReading(tool: string): boolean {
  return READING.includes(tool) || tool === 'StructuredOutput';
}

/** Agents of our own, so that the user's agents don't decide what a role may do. */
export function agentName(role: Role): string {
  return `nightshift-engine-${role}`;
}

/** The user's configuration stays in force; this one is merged over it. */
export function configContent(disabledServers: Iterable<string>): object {
  const agent = (role: Role) => ({
    // The program would silently replace a subagent with the user's default agent.
    mode: 'primary',
    disable: false,
    description: `The ${role} of Nightshift`,
    permission: Object.fromEntries([['*', 'deny'], ...OWN_TOOLS[role].map((tool) => [tool, 'allow'])]),
    ...(role === 'manager' ? { prompt: 'Answer what is asked, in the form that is asked for.' } : {}),
  });
  return {
    share: 'disabled',
    autoupdate: false,
    // Undo is not needed, and would copy the work tree for each step.
    snapshot: false,
    agent: Object.fromEntries((['dev', 'qa', 'manager'] as const).map((role) => [agentName(role), agent(role)])),
    mcp: Object.fromEntries([...disabledServers].map((name) => [name, { enabled: false }])),
  };
}

/** The user may have a configuration in this variable, too. */
export function mergeContent(users: string | undefined, own: object): string {
  try {
    return JSON.stringify(merge(JSON.parse(users ?? '{}') as object, own));
  } catch {
    return JSON.stringify(own);
  }
}

function merge(under: object, over: object): object {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const below = merged[key];
    merged[key] = isObject(below) && isObject(value) ? merge(below, value) : value;
  }
  return merged;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What only Nightshift writes in the folder of a shift. A `*` in a pattern also matches several folders. */
const SHIFT_FILES = ['table.csv', 'table.csv.lock', 'manager.md', 'lessons.json', '.env*', '.engine/*'];

/**
 * What a session may do. The last matching rule wins, whatever the user's configuration says. `servers`: all MCP
 * servers of this folder, also those that other tasks named. `shift`: the name of its folder.
 */
export function permissionRules(
  role: Role,
  tools: readonly string[],
  servers: Iterable<string>,
  shift = '',
): PermissionRule[] {
  const rule =
    (action: PermissionRule['action']) =>
    (permission: string, pattern = '*') => ({
      permission,
      pattern,
      action,
    });
  const [allow, deny] = [rule('allow'), rule('deny')];
  const bash = role === 'dev' && tools.includes('bash') ? [allow('bash')] : [];
  // A tool is called SERVER_TOOL, so of two names with the same start, the longer one must come later.
  const byLength = [...new Set(servers)].sort((a, b) => a.length - b.length);
  const isNamed = (server: string) => role !== 'manager' && tools.includes(server);
  const ofServers = byLength.map((server) => (isNamed(server) ? allow : deny)(`${toolPrefix(server)}*`));
  // A tool is offered unless the last rule of its name denies all of it: so rules about files only where it is
  // allowed.
  const ofFiles = [
    deny('edit', '*.nightshift/*'),
    // Its own files in the shift's folder are allowed. The watch protects the task files.
    ...(shift === '' ? [] : [allow('edit', `*.nightshift/${shift}/*`)]),
    ...SHIFT_FILES.map((file) => deny('edit', `*.nightshift/*/${file}`)),
    deny('read', '*.nightshift/*.env'),
  ];
  const ofShift = ofFiles.filter(({ permission }) => OWN_TOOLS[role].includes(permission));
  return [deny('*'), ...ofServers, ...OWN_TOOLS[role].map((tool) => allow(tool)), ...bash, ...ofShift];
}

function toolPrefix(server: string): string {
  return `${server.replace(/[^a-zA-Z0-9_-]/g, '_')}_`;
}

export function namedServers(tools: readonly string[]): string[] {
  return tools.filter((tool) => tool !== 'bash');
}

/** A server of `.mcp.json` as OpenCode configures it. */
export function toServerConfig(server: McpServer): McpLocalConfig | McpRemoteConfig {
  if (server.kind !== 'stdio') return { type: 'remote', url: server.url, headers: { ...server.headers } };
  return { type: 'local', command: [server.command, ...server.args], environment: { ...server.env } };
}

/** `provider/model`. The model's name may have more slashes. */
export function splitModel(model: string): { providerID: string; modelID: string } | undefined {
  const slash = model.indexOf('/');
  if (slash <= 0 || slash === model.length - 1) return undefined;
  return { providerID: model.slice(0, slash), modelID: model.slice(slash + 1) };
}

/** One server has one environment, so the prompt has what belongs to an item. */
const OF_AN_ITEM = [
  ...['ROLE', 'TASK', 'INDEX', 'ROW', 'ATTEMPT', 'ITEM', 'OUTPUT'],
  ...['WORKSPACE', 'BRANCH', 'BASE', 'PORT'],
].map((name) => `NIGHTSHIFT_${name}`);

/** With the server's own mark. What `test-task` runs stays distinct from what a shift runs. */
export function serverEnvironment(environment: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(environment).filter(([name]) => !OF_AN_ITEM.includes(name));
  const isTest = environment.NIGHTSHIFT_KEY?.startsWith('test-') === true;
  return { ...Object.fromEntries(own), NIGHTSHIFT_KEY: isTest ? 'test-opencode' : 'opencode' };
}
