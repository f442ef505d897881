import { resolve } from 'node:path';
import { missingServer, serverOf } from './claude-servers.ts';
import { type AgentRecord, readWrittenRecord, recordFile } from './claude-transcript.ts';
import { type Facts, roleOf } from './nightshift-guard/places.ts';
import { isDevStatus } from './nightshift-guard/plain-line.ts';
import { isTaskIn, projectAt, realOf } from './nightshift-guard/real-path.ts';
import { type Action, refusal, withoutSecrets } from './nightshift-guard/rules.ts';
import { toolsFor } from './nightshift-guard/task-tools.ts';
import { outsideRefusal } from './outside.ts';
import { plainSearch } from './plain-search.ts';

/** The input of a Claude Code hook, as far as it matters here. */
export interface HookInput {
  readonly hook_event_name?: string;
  /** The agent that calls. Absent in your own conversation. */
  readonly agent_type?: string;
  /** Absent if the conversation itself is the agent (`claude --agent`). */
  readonly agent_id?: string;
  readonly transcript_path?: string;
  readonly cwd?: string;
  readonly tool_name?: string;
  readonly tool_input?: Input;
  readonly tool_response?: unknown;
}

type Input = Readonly<Record<string, unknown>>;

/** `why`: it may not run. `input`: it may, with this input instead. */
type Decision = { readonly why: string } | { readonly input?: Input };

const COMPACTED =
  'Your context was compacted, so you may have forgotten what you did. Say `Compacted: true` as your last line and stop. A fresh manager resumes from the files; nothing is lost.';

/** The answer to Claude Code; nothing if the call is not from an agent of Nightshift. `environment`: of the hook. */
export function answerHook(
  input: HookInput,
  environment: Readonly<Record<string, string | undefined>>,
): object | undefined {
  const role = roleOf((input.agent_type ?? '').replace(/^nightshift:/, 'nightshift-'));
  if (role === undefined) return undefined;
  const { hook_event_name: event = '' } = input;
  if (event === 'SessionStart') return role === 'manager' ? said(event, { additionalContext: COMPACTED }) : undefined;
  if (event === 'PostToolUse') return said(event, { updatedToolOutput: cleaned(input.tool_response) });
  if (event !== 'PreToolUse') return undefined;
  const record = readWrittenRecord(recordFile(input.transcript_path ?? '', input.agent_id));
  const decision = record === undefined ? NO_RECORD : decide(input, factsFor(input, role, record, environment), record);
  if ('why' in decision) return said(event, { permissionDecision: 'deny', permissionDecisionReason: decision.why });
  return said(event, {
    permissionDecision: 'allow',
    permissionDecisionReason: 'Nightshift allows this to its agents.',
    ...(decision.input === undefined ? {} : { updatedInput: decision.input }),
  });
}

const NO_RECORD = { why: 'Nightshift can not read what this agent was told: Claude Code keeps no transcript of it.' };

function said(hookEventName: string, more: object): object {
  return { hookSpecificOutput: { hookEventName, ...more } };
}

interface Known extends Facts {
  /** The `tools:` of its task. */
  readonly tools: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function factsFor(
  { cwd = '/', agent_type = '' }: HookInput,
  role: Facts['role'],
  { told }: AgentRecord,
  environment: Readonly<Record<string, string | undefined>>,
): Known {
  const project = projectAt(environment.CLAUDE_PROJECT_DIR ?? cwd);
  const tools = toolsFor(agent_type.replace(/^nightshift:/, 'nightshift-'), told, project) ?? [];
  const isTask = (shift: string, task: string) => isTaskIn(project, shift, task);
  const hasShell = role === 'dev' && tools.includes('bash');
  return { role, project, folder: cwd, told, hasShell, settings: [], realOf, isTask, tools, environment };
}

function decide(
  { tool_name: tool = '', tool_input: input = {} }: HookInput,
  facts: Known,
  record: AgentRecord,
): Decision {
  const text = (name: string) => (typeof input[name] === 'string' ? (input[name] as string) : '');
  switch (tool) {
    case 'Bash':
      return shell(input, text('command'), facts, record);
    case 'Agent':
    case 'Task':
      return start(input, text('subagent_type'), text('prompt'), facts);
    case 'Read':
      return files({ kind: 'read', path: text('file_path') }, facts);
    case 'Write':
    case 'Edit':
    case 'MultiEdit':
      return files({ kind: 'write', path: text('file_path') }, facts);
    case 'NotebookEdit':
      return files({ kind: 'write', path: text('notebook_path') }, facts);
    case 'Glob':
    case 'Grep': {
      const glob = tool === 'Glob' ? text('pattern') : text('glob');
      return files({ kind: 'search', path: text('path') || '.', ...(glob === '' ? {} : { glob }) }, facts);
    }
    default:
      return other(tool, input, facts);
  }
}

function files(action: Action & { readonly path?: string }, facts: Facts): Decision {
  const why = refusal(action, facts) ?? outsideRefusal(resolve(facts.folder, action.path ?? '.'), facts);
  return why === undefined ? {} : { why };
}

function shell(input: Input, line: string, facts: Known, { isCompacted }: AgentRecord): Decision {
  if (input.dangerouslyDisableSandbox === true)
    return { why: 'The sandbox is not for the agents of Nightshift to leave.' };
  if (isCompacted && facts.role === 'manager' && /\bbatch\s+open\b/.test(line)) return { why: COMPACTED };
  const search = facts.hasShell ? undefined : plainSearch(line, facts);
  if (search !== undefined) return 'why' in search ? search : { input: { ...input, command: search.line } };
  const why = refusal({ kind: 'shell', line }, facts);
  if (why !== undefined) return { why };
  // The rules allow a dev more than its status if its program has its own rules.
  if (facts.role === 'dev' && !facts.hasShell && !isDevStatus(line)) {
    return { why: 'This agent of Nightshift may not run that: its task does not name the tool `bash`.' };
  }
  return {};
}

/** All agents work in the same folder, and the manager waits for them. */
function start(input: Input, agent: string, prompt: string, facts: Known): Decision {
  const name = agent.replace(/^nightshift:/, 'nightshift-');
  const why = refusal({ kind: 'start', agent: name }, facts);
  if (why !== undefined) return { why };
  const tools = toolsFor(name, prompt, facts.project);
  if (tools === undefined)
    return { why: 'Its prompt is `Read FILE and do what it says.`, with the file that the batch lists for it.' };
  const missing = missingServer(tools, facts.project, facts.environment);
  if (missing !== undefined)
    return { why: `The task needs the MCP server ${missing}, which Claude Code does not have here.` };
  const { isolation: _, ...rest } = input;
  return { input: { ...rest, run_in_background: false } };
}

/** MCP servers that the task names; other tools, including new ones, are denied. */
function other(tool: string, input: Input, facts: Known): Decision {
  const isResource = /^(?:List|Read)McpResource/.test(tool);
  const server = isResource ? String(input.server ?? '') : serverOf(tool, facts.project, facts.environment);
  if (server === undefined) return { why: `The tool ${tool} is not for the agents of Nightshift.` };
  if (!facts.tools.includes(server)) return { why: `The task does not name the MCP server ${server} under \`tools\`.` };
  const why = refusal({ kind: 'other', input }, facts);
  return why === undefined ? {} : { why };
}

/** In the form in which it came. */
function cleaned(output: unknown): unknown {
  if (typeof output === 'string') return withoutSecrets(output);
  if (Array.isArray(output)) return output.map(cleaned);
  if (typeof output !== 'object' || output === null) return output;
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [key, cleaned(value)]));
}
