import { dirname } from 'node:path';
import type { Role } from '../../core/model/model.ts';
import type { Opening, Question } from '../agent.ts';
import type { InForce } from './stream.ts';

/** What a session asks of the program, and verifies. */
export interface SessionNeeds {
  /** The program's own tools. */
  readonly tools: readonly string[];
  readonly servers: readonly string[];
  readonly model?: string;
}

/** The tool that gives a report. The program adds it for `--json-schema`. */
const REPORT_TOOL = 'StructuredOutput';
const PERMISSION_MODE = 'dontAsk';

/** Rules D2 and Q2: the only tools. No subagents, no web, no to-do lists. */
const TOOLS: Readonly<Record<Role, readonly string[]>> = {
  dev: ['Read', 'Write', 'Edit', 'Glob', 'Grep'],
  qa: ['Read', 'Glob', 'Grep'],
  manager: [],
};

export function wantedTools({ role, settings }: Pick<Opening, 'role' | 'settings'>): SessionNeeds {
  const hasShell = role === 'dev' && settings.tools.includes('bash');
  return {
    tools: hasShell ? [...TOOLS[role], 'Bash'] : TOOLS[role],
    servers: role === 'manager' ? [] : namedServers(settings.tools),
    ...(settings.model === undefined ? {} : { model: settings.model }),
  };
}

export function namedServers(tools: readonly string[]): string[] {
  return tools.filter((name) => name !== 'bash');
}

export interface Run {
  readonly opening: Pick<Opening, 'folder' | 'shiftFolder'>;
  readonly wanted: SessionNeeds;
  readonly schema: object;
  readonly session: string;
  /** Whether it resumes the session or begins it. */
  readonly goesOn: boolean;
  /** The file with the servers' configurations. */
  readonly serversFile: string;
}

export function claudeArguments({ opening, wanted, schema, session, goesOn, serversFile }: Run): string[] {
  const allowed = [...wanted.tools, ...wanted.servers.map((name) => `mcp__${toolPart(name)}`)];
  // The folder of all shifts: a dev must not touch the files of this one or another (rule D5).
  const settings = { permissions: { deny: [`Edit(/${dirname(opening.shiftFolder)}/**)`] } };
  return [
    ...['-p', '--output-format', 'stream-json', '--verbose'],
    ...(wanted.model === undefined ? [] : ['--model', wanted.model]),
    ...['--tools', wanted.tools.join(',')],
    ...(allowed.length === 0 ? [] : ['--allowedTools', allowed.join(',')]),
    ...['--permission-mode', PERMISSION_MODE, '--disable-slash-commands'],
    ...['--strict-mcp-config', '--mcp-config', serversFile],
    // The user's settings hold the login. Those of the project could be written by a dev, and hold commands to run.
    ...['--setting-sources', 'user', '--settings', JSON.stringify(settings)],
    // So the project's CLAUDE.md comes as that of an added folder.
    ...['--add-dir', opening.folder],
    ...['--json-schema', JSON.stringify(schema)],
    ...[goesOn ? '--resume' : '--session-id', session],
  ];
}

/** A shift's `.env` or `pass-env` may override these. */
const DEFAULTS = {
  // 0.5 s, 1, 2, 4, 8: a short outage does not cost the work of a session, and a long one is reported within seconds.
  CLAUDE_CODE_MAX_RETRIES: '5',
  DISABLE_AUTOUPDATER: '1',
};

const OWN = {
  // `@path` in a cell is text, not a file to send.
  CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1',
  // A session must not know other items (rule D1).
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
  CLAUDE_CODE_NO_MODEL_FALLBACK: '1',
  CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
  // The tools of servers are available from the start, not behind a search tool.
  ENABLE_TOOL_SEARCH: 'false',
};

export function claudeEnvironment(environment: Question['environment'], scratch: string): Record<string, string> {
  return { ...DEFAULTS, ...environment, ...OWN, CLAUDE_CODE_TMPDIR: scratch };
}

interface Difference {
  readonly reason: string;
  readonly remedy?: string;
}

/** What is in force that was not asked for. Then nothing of the session can be trusted. */
export function differenceFrom(wanted: SessionNeeds, inForce: InForce): Difference | undefined {
  for (const name of wanted.servers) {
    const status = inForce.servers.find((server) => server.name === name)?.status ?? 'not there';
    if (status === 'connected') continue;
    const reason = `the MCP server ${name} did not connect (${status})`;
    return status === 'needs-auth' ? { reason, remedy: `run \`claude mcp login ${name}\`` } : { reason };
  }
  const settings =
    'look into the settings of Claude Code (`claude` and /config, /permissions), also those of your company';
  const strange = inForce.servers.find(({ name }) => !wanted.servers.includes(name));
  if (strange)
    return { reason: `the MCP server ${strange.name} is there, which no \`tools:\` names`, remedy: settings };
  const prefixes = wanted.servers.map((name) => `mcp__${toolPart(name)}__`);
  const extra = inForce.tools.find(
    (tool) =>
      tool !== REPORT_TOOL && !wanted.tools.includes(tool) && !prefixes.some((prefix) => tool.startsWith(prefix)),
  );
  if (extra !== undefined) return { reason: `the tool ${extra} is there, which was not asked for`, remedy: settings };
  const lacking = wanted.tools.find((tool) => !inForce.tools.includes(tool));
  if (lacking !== undefined) return { reason: `the tool ${lacking} is not there`, remedy: settings };
  if (inForce.permissionMode !== PERMISSION_MODE) {
    return {
      reason: `the permission mode is ${inForce.permissionMode} instead of ${PERMISSION_MODE}`,
      remedy: settings,
    };
  }
  if (wanted.model !== undefined && !isModel(wanted.model, inForce.model)) {
    const remedy = `correct \`model: ${wanted.model}\`, or look into the settings of Claude Code`;
    return { reason: `the model is ${inForce.model} instead of ${wanted.model}`, remedy };
  }
  return undefined;
}

/** A short name (`sonnet`) means whatever the program and its settings say; a full one itself. */
function isModel(asked: string, inForce: string): boolean {
  const plain = (name: string) => name.replace(/\[\w+\]$/, '');
  return /^\w+$/.test(plain(asked)) || plain(asked) === plain(inForce);
}

/** As the program spells a server in the names of its tools. */
function toolPart(server: string): string {
  return server.replace(/[^a-zA-Z0-9_-]/g, '_');
}
