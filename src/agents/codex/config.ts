import { realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Opening } from '../agent.ts';
import type { McpServer } from '../mcp-json.ts';
import { SHELL } from '../process/start.ts';

/** A server of the user's configuration, and whether it is named; or a named one of `.mcp.json`. */
export type CodexServer =
  | { readonly from: 'codex'; readonly name: string; readonly isNamed: boolean; readonly envVars?: readonly Toml[] }
  | { readonly from: 'project'; readonly name: string; readonly server: McpServer };

export type Toml = string | number | boolean | readonly Toml[] | { readonly [key: string]: Toml };

/** The item's variables for an MCP server, including the mark by which it is found if it outlives its item. */
const MARKS = ['SHIFT_DIR', 'WORKER_DIR', 'KEY', 'ROLE', 'TASK'].map((name) => `NIGHTSHIFT_${name}`);

/** Settings that give more tools than a role has (rule D2), or endless retries. */
const FEATURES_OFF = [
  ...['multi_agent', 'goals', 'image_generation', 'apps', 'plugins', 'tool_suggest', 'skill_search', 'sleep_tool'],
  ...['browser_use', 'computer_use', 'unbounded_connection_retries'],
];
const MANAGER_FEATURES_OFF = ['shell_tool', 'view_image'];

/** Variables with header values, for Codex and not for its shell. */
const HEADER = 'NIGHTSHIFT_HEADER_';

export interface CodexConfig {
  /** Values for `-c`. */
  readonly settings: readonly string[];
  /** What Codex needs in its environment for them: every user of the machine can see arguments. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The settings of one session. They override the user's, and set only what Nightshift needs. */
export async function configure(opening: Opening, servers: readonly CodexServer[]): Promise<CodexConfig> {
  const { role, scratch } = opening;
  const off = role === 'manager' ? [...FEATURES_OFF, ...MANAGER_FEATURES_OFF] : FEATURES_OFF;
  const config: Record<string, Toml> = {
    approval_policy: 'never',
    default_permissions: 'nightshift',
    'permissions.nightshift': await permissionsFor(opening),
    web_search: 'disabled',
    'agents.enabled': false,
    notify: [],
    // The shell has the environment that Nightshift built, whatever your profiles and policies say.
    allow_login_shell: false,
    'shell_environment_policy.inherit': 'all',
    'shell_environment_policy.ignore_default_excludes': true,
    'shell_environment_policy.include_only': [],
    'shell_environment_policy.exclude': ['CODEX_API_KEY', 'CODEX_ACCESS_TOKEN', `${HEADER}*`],
    'shell_environment_policy.set': { TMPDIR: scratch },
  };
  for (const name of off) config[`features.${name}`] = false;
  const environment: Record<string, string> = {};
  if (servers.length > 0) {
    const entries = servers.map(async (each) => [each.name, await configureServer(each, scratch, environment)]);
    config.mcp_servers = Object.fromEntries(await Promise.all(entries));
  }
  return { settings: Object.entries(config).map(([key, value]) => `${key}=${toToml(value)}`), environment };
}

/**
 * Codex reads files with its shell, so dev and qa always have one. The system's sandbox limits it to the role: a dev
 * without `bash` reads, and writes in its folder; with `bash` it may do all but touch the shift's files; a qa only
 * reads.
 */
async function permissionsFor(opening: Opening): Promise<Toml> {
  const { role, settings, folder, scratch, shiftFolder, sandbox } = opening;
  // Nightshift confines it, and its own sandbox does not work inside.
  if (sandbox !== undefined) return { filesystem: { ':root': 'write' }, network: { enabled: true } };
  const isFree = role === 'dev' && settings.tools.includes('bash');
  const filesystem: Record<string, Toml> = { ':root': isFree ? 'write' : 'read' };
  if (role === 'dev' && !isFree) filesystem[await real(folder)] = 'write';
  filesystem[await real(shiftFolder)] = 'read';
  if (role !== 'manager') filesystem[await real(scratch)] = 'write';
  return { filesystem, network: { enabled: isFree } };
}

/** A sandbox needs real paths. */
async function real(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

/** Without `approve`, every call would wait for an answer. Without `required`, a broken server would go unnoticed. */
async function configureServer(each: CodexServer, scratch: string, environment: Record<string, string>): Promise<Toml> {
  if (each.from === 'codex' && !each.isNamed) return { enabled: false };
  const named = { enabled: true, required: true, default_tools_approval_mode: 'approve' };
  if (each.from === 'codex') return { ...named, ...(each.envVars ? { env_vars: [...each.envVars, ...MARKS] } : {}) };
  const { server } = each;
  if (server.kind === 'stdio') {
    return { ...named, command: SHELL, args: [await writeStarter(server, each.name, scratch)], env_vars: MARKS };
  }
  const headers = Object.entries(server.headers).map(([header, value]) => {
    const variable = `${HEADER}${Object.keys(environment).length}`;
    environment[variable] = value;
    return [header, variable];
  });
  return { ...named, url: server.url, env_http_headers: Object.fromEntries(headers) };
}

/** A server's variables may hold secrets, so a private file starts it. */
async function writeStarter(
  { command, args, env }: Extract<McpServer, { kind: 'stdio' }>,
  name: string,
  scratch: string,
): Promise<string> {
  const file = join(scratch, `mcp-${Buffer.from(name).toString('hex')}.sh`);
  const variables = Object.entries(env).map(([variable, value]) => `export ${variable}=${quote(value)}\n`);
  const line = `exec ${[command, ...args].map(quote).join(' ')}\n`;
  await writeFile(file, variables.join('') + line, { mode: 0o600 });
  return file;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Strings, numbers and lists are the same in JSON and TOML; objects are not. */
function toToml(value: Toml): string {
  if (Array.isArray(value)) return `[${value.map(toToml).join(',')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}=${toToml(each)}`)
    .join(',')}}`;
}
