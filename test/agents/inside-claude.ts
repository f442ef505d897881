import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Project } from '../harness.ts';
import type { Call, InsideModel, Move, Play, Talk } from './inside-model.ts';
import { writePrograms } from './inside-server.ts';
import { programFolder } from './programs.ts';

/** A call of a tool by an agent that the conversation started, or by itself; and what came of it. */
export interface Called {
  readonly tool: string;
  readonly input: Record<string, string>;
  readonly isError: boolean;
  readonly output: string;
  /** The call of the agent tool that it was made for. */
  readonly parent: string | null;
  readonly id: string;
}

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: Record<string, string>;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly content?: string | readonly { readonly text?: string }[];
}

interface StreamEvent {
  readonly type: string;
  readonly subtype?: string;
  readonly parent_tool_use_id?: string | null;
  readonly message?: { readonly content: string | readonly Block[] };
  readonly result?: string;
  readonly permission_denials?: readonly { readonly tool_name: string; readonly tool_input: object }[];
  readonly plugins?: readonly { readonly name: string }[];
}

export interface Conversation {
  readonly events: readonly StreamEvent[];
  readonly calls: readonly Called[];
  /** What it said at the end of each turn: a turn begins with what is typed, and when an agent is back. */
  readonly said: readonly string[];
}

export interface ClaudeOptions {
  readonly flags?: readonly string[];
  /** Without `nightshift` on the PATH. */
  readonly isAlone?: boolean;
}

/** With the folders around it: if one of them is a repository, that is the project which Claude Code asks about. */
function trusted(folder: string): Record<string, { hasTrustDialogAccepted: true }> {
  const above = dirname(folder);
  return { [folder]: { hasTrustDialogAccepted: true }, ...(above === folder ? {} : trusted(above)) };
}

/** A person's Claude Code, with nothing in its home, and `nightshift` on its PATH. */
export async function converse(
  { root }: Project,
  model: InsideModel,
  typed: string,
  { flags = [], isAlone = false }: ClaudeOptions = {},
): Promise<Conversation> {
  const home = new Project();
  const programs = home.path('bin');
  writePrograms(programs);
  // What a person says once, on the first start in a folder: that it is trusted, and its MCP servers are.
  home.write('.claude.json', JSON.stringify({ projects: trusted(root) }));
  home.write('.claude/settings.json', JSON.stringify({ enableAllProjectMcpServers: true }));
  const { PATH = '' } = process.env;
  const env = {
    ...process.env,
    HOME: home.root,
    PATH: isAlone ? PATH : `${programs}:${PATH}`,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'sk-ant-of-the-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const options = ['-p', '--model', 'claude-sonnet-4-5', '--output-format', 'stream-json', '--verbose', ...flags];
  const child = spawn(join(programFolder('claude'), 'claude'), options, { cwd: root, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  child.stdin.end(typed);
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`claude ended with ${code}: ${err} ${out.slice(-2000)}`);
  const events = out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as StreamEvent);
  const said = events.flatMap(({ type, result }) => (type === 'result' ? [result ?? ''] : []));
  return { events, calls: callsIn(events), said };
}

function callsIn(events: readonly StreamEvent[]): Called[] {
  const blocks = events.flatMap(({ message, parent_tool_use_id: parent = null }) =>
    typeof message?.content === 'object' ? message.content.map((block) => ({ ...block, parent })) : [],
  );
  const results = new Map(blocks.flatMap((block) => (block.tool_use_id ? [[block.tool_use_id, block]] : [])));
  return blocks.flatMap(({ type, id = '', name = '', input = {}, parent }) => {
    if (type !== 'tool_use') return [];
    const { is_error: isError = false, content = '' } = results.get(id) ?? {};
    const output = typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n');
    return [{ tool: name, input, isError, output, parent, id }];
  });
}

/** What was written for OpenCode's tools, with those of Claude Code. `agents`: how their names begin. */
export function inClaude(play: Play, agents = 'nightshift-'): Play {
  return async (talk) => {
    if (/Do NOT call any tools/.test(talk.prompt)) return { text: '<summary>Some shift was run.</summary>' };
    const move = await play({ ...talk, answers: talk.answers.map((said) => said.map(asInOpenCode)) });
    return 'calls' in move ? { calls: move.calls.map((call) => claudeCall(call, agents)) } : move;
  };
}

function asInOpenCode(answer: string): string {
  const text = answer.replace(/\s*<system-reminder>.*?<\/system-reminder>\s*/gs, '');
  return text.includes('[Subagent hand-back]') ? `<task_result>${text}` : text;
}

export function claudeCall({ tool, input }: Call, agents = 'nightshift-'): Call {
  const { filePath, ...rest } = input as { filePath?: string; subagent_type?: string };
  if (tool === 'task') {
    return { tool: 'Agent', input: { ...rest, subagent_type: rest.subagent_type?.replace('nightshift-', agents) } };
  }
  if (filePath === undefined) return { tool: tool === 'bash' ? 'Bash' : tool, input };
  return { tool: `${tool[0]!.toUpperCase()}${tool.slice(1)}`, input: { file_path: filePath, ...rest } };
}

/** The conversation that /nightshift-start is typed into: its manager works in the background. */
export function playStartInClaude({ prompt, answers }: Talk): Move {
  const bash = (command: string): Move => ({ calls: [{ tool: 'bash', input: { command } }] });
  const said = answers.at(-1)?.join('\n');
  const start = (shift: string): Move => {
    const input = { description: 'Run it', prompt: `Run the shift ${shift}.`, subagent_type: 'nightshift-manager' };
    return { calls: [{ tool: 'task', input }] };
  };
  const shift = /^The shift: (\S+)/m.exec(prompt)?.[1];
  if (shift !== undefined) {
    if (said === undefined) return bash(`nightshift status ${shift}`);
    return said.includes('Async agent launched') ? { text: 'It runs.' } : start(shift);
  }
  // It is back.
  if (said?.includes('Async agent launched')) return { text: 'It runs again.' };
  if (/Compacted: true/.test(prompt)) return start('site');
  return said === undefined ? bash('nightshift status site') : { text: said };
}

/** Every file with its content; what a lock is held on is nobody's. */
export function contentOf({ root }: Project): Record<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.endsWith('.lock') && statSync(join(root, file)).isFile())
    .sort();
  const hashOf = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
  return Object.fromEntries(files.map((file) => [file, hashOf(file)]));
}
