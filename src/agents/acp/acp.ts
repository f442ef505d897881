import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { McpServer as AcpServer, PromptResponse, RequestPermissionRequest } from '@agentclientprotocol/sdk';
import type { Usage } from '../../core/model/model.ts';
import type { AgentProgram, AgentSettings, Answer, LaunchContext, Opening, Question, Session } from '../agent.ts';
import { acpAtHome } from '../confined-home.ts';
import { lastJsonObject } from '../last-json.ts';
import { type McpServer, readMcpJson } from '../mcp-json.ts';
import { howItEnded, type ProcessResult } from '../process/process.ts';
import { missingProgram } from '../program.ts';
import { type AcpConnection, connect } from './connection.ts';
import { readProtocolError } from './failure.ts';
import { chooseModel } from './model.ts';
import { unusable } from './probe.ts';
import { type Call, isBreach, mayUse } from './rules.ts';
import { AcpUpdates } from './turn.ts';

/** How long a program may take to get ready. */
const START_MS = 120_000;
/** Some programs end their turn when a tool is refused. They are told to continue this many times. */
const MOST_REFUSALS = 10;
const GO_ON = 'That tool is not available to you here, and will not be. Continue without it, and end with your report.';

/** Any program that speaks the Agent Client Protocol, one process for each session. */
export const acpAgent: AgentProgram = {
  missing,
  unusable,
  async open(opening) {
    return new AcpSession(opening);
  },
};

async function missing({ acpCommand = '', tools }: AgentSettings, context: LaunchContext): Promise<string | undefined> {
  const program = await missingProgram(acpCommand, context);
  if (program !== undefined) return `${program}: install it, or correct \`acp-command: ${acpCommand}\``;
  if (context.folder === undefined) return undefined;
  const found = await findServers(serverNames(tools), [context.folder], context.environment);
  return 'problem' in found ? `${found.problem}: ${found.remedy}` : undefined;
}

function serverNames(tools: readonly string[]): string[] {
  return tools.filter((tool) => tool !== 'bash');
}

class AcpSession implements Session {
  readonly #opening: Opening;
  readonly #updates: AcpUpdates;
  #connection: AcpConnection | undefined;
  #sessionId: string | undefined;
  #isLost = false;
  #cost = 0;
  #refusals = 0;
  /** A tool that the program used although its role does not have it. */
  #breach: string | undefined;

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#updates = new AcpUpdates(opening.transcript, (call) => this.#judge(call));
  }

  get remembers(): boolean {
    return this.#sessionId !== undefined && !this.#isLost;
  }

  async ask(question: Question): Promise<Answer> {
    const { transcript, signal } = this.#opening;
    transcript({ kind: 'prompt', text: question.prompt });
    const obstacle = this.#sessionId === undefined ? await this.#start(question) : undefined;
    const answer = obstacle ?? (await this.#converse(question.prompt));
    if (answer.kind !== 'report' && answer.kind !== 'no-report') this.#isLost = true;
    return signal.aborted ? { kind: 'aborted', ...usageOf(answer) } : answer;
  }

  async #converse(prompt: string): Promise<Answer> {
    let usage: Usage = {};
    let isCompacted = false;
    for (let text = prompt, round = 0; ; text = GO_ON, round++) {
      this.#refusals = 0;
      this.#updates.begin();
      const response = await this.#prompt(text);
      this.#updates.end();
      usage = add(usage, this.#account('stopReason' in response ? response : undefined));
      isCompacted ||= this.#updates.isCompacted;
      const about = { usage, compacted: isCompacted };
      if (this.#breach !== undefined) return { ...breachAnswer(this.#breach), ...about };
      if (!('stopReason' in response)) return { ...response, ...about };
      const isSilent = this.#updates.text.trim() === '' && this.#refusals > 0;
      if (response.stopReason === 'end_turn' && isSilent && round < MOST_REFUSALS) continue;
      return { ...this.#readEnd(response), ...about };
    }
  }

  async #prompt(text: string): Promise<PromptResponse | Answer> {
    const { agent, ended } = this.#connection!;
    const asked = agent.request('session/prompt', {
      sessionId: this.#sessionId!,
      prompt: [{ type: 'text', text }],
    });
    return this.#unlessEnded(asked, ended, (end) => ({
      kind: 'failed',
      reason: `the program ended in the middle of its turn: ${end}`,
    }));
  }

  #readEnd({ stopReason }: PromptResponse): Answer {
    if (stopReason === 'refusal') return { kind: 'failed', reason: 'acp: the model refused to continue' };
    if (stopReason === 'cancelled') return { kind: 'failed', reason: 'acp: the program cancelled its turn' };
    const report = lastJsonObject(this.#updates.text);
    if (stopReason !== 'end_turn') return { kind: 'failed', reason: `acp: the turn ended early (${stopReason})` };
    if (report !== undefined) return { kind: 'report', report };
    const said =
      this.#updates.text.trim() === ''
        ? 'it said nothing at the end of its turn'
        : 'its last message has no JSON object';
    return { kind: 'no-report', reason: `no report: ${said}` };
  }

  /** Starts the program, the connection and the session. Returns an answer if one of them fails. */
  async #start({ environment }: Question): Promise<Answer | undefined> {
    const { settings, folder, shiftFolder, role, mask, signal, transcript } = this.#opening;
    const named = role === 'manager' ? [] : serverNames(settings.tools);
    const found = await findServers(named, [folder, dirname(dirname(shiftFolder))], environment);
    if ('problem' in found) return stuck(found.problem, found.remedy);
    // They differ between attempts, so the prompt has them.
    const { NIGHTSHIFT_OUTPUT: _, NIGHTSHIFT_ATTEMPT: __, ...lasting } = environment;
    const home = await acpAtHome(this.#opening, lasting);
    this.#connection = await connect(
      { command: settings.acpCommand ?? '', folder, mask, signal, ...home },
      {
        onUpdate: this.#updates.read,
        onPermission: (request) => this.#answer(request),
        onPrint: (text) => transcript({ kind: 'error', text }),
      },
    );
    // Also while its item is judged: the next attempt then gets a fresh session.
    void this.#connection.ended.then(() => {
      this.#isLost = true;
    });
    const opened = this.#openSession(found.servers);
    const slow = delay(START_MS, undefined, { ref: false }).then(() => stuckStart('it does not answer'));
    const done = await Promise.race([
      this.#unlessEnded(opened, this.#connection.ended, (end) => stuckStart(end)),
      slow,
    ]);
    return done === 'ready' ? undefined : done;
  }

  async #openSession(servers: readonly [string, McpServer][]): Promise<'ready' | Answer> {
    const { agent } = this.#connection!;
    const { agentCapabilities } = await agent.request('initialize', {
      protocolVersion: 1,
      // The program has its own tools for files and commands, and asks before it uses them.
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'nightshift', version: '0' },
    });
    const can = { http: false, sse: false, ...agentCapabilities?.mcpCapabilities };
    const distant = servers.find(([, { kind }]) => kind !== 'stdio' && !can[kind]);
    if (distant) return stuck(`the program can't use the MCP server ${distant[0]}: it knows no ${distant[1].kind}`);
    const session = await agent.request('session/new', {
      cwd: this.#opening.folder,
      mcpServers: servers.map(([name, server]) => toAcp(name, server)),
    });
    const obstacle = await chooseModel(agent, session, this.#opening.settings.model);
    if (obstacle) return stuck(obstacle.problem, obstacle.remedy);
    this.#sessionId = session.sessionId;
    return 'ready';
  }

  async #unlessEnded<T>(
    asked: Promise<T>,
    ended: Promise<ProcessResult>,
    onEnd: (end: string) => Answer,
  ): Promise<T | Answer> {
    const end = ended.then((how) => {
      if (how.kind === 'aborted') return { kind: 'aborted' } as const;
      if (how.kind === 'not-started' && how.fault === 'item') return { kind: 'failed', reason: how.reason } as const;
      return onEnd(howItEnded(how, 'stderr'));
    });
    const answered = asked.catch(async (error: unknown) => {
      // A connection that breaks is noticed before the end of its process.
      const how = await Promise.race([end, delay(2000, undefined, { ref: false })]);
      return how ?? readProtocolError(error);
    });
    return Promise.race([answered, end]);
  }

  #answer(request: RequestPermissionRequest): string | undefined {
    const call = this.#updates.callOf(request.toolCall);
    const isAllowed = mayUse(call, this.#opening);
    if (!isAllowed) {
      this.#refusals++;
      this.#opening.transcript({ kind: 'note', text: `refused: ${call.title}` });
    }
    const wanted = isAllowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
    const options = wanted.flatMap((kind) => request.options.filter((option) => option.kind === kind));
    return options[0]?.optionId;
  }

  #judge(call: Call): void {
    if (this.#breach !== undefined || !isBreach(call, this.#opening)) return;
    this.#breach = call.title;
    // Whatever it is about to do, nothing more is asked.
    void this.#connection!.close();
  }

  #account(response: PromptResponse | undefined): Usage {
    const { usage: told } = (response ?? {}) as { usage?: RawUsage | null };
    const cost = this.#updates.cost ?? 0;
    const costUsd = Math.max(0, cost - this.#cost);
    this.#cost = cost;
    const tokens = told == null ? {} : tokensOf(told);
    const usage = { ...tokens, ...(costUsd > 0 ? { costUsd } : {}) };
    if (Object.values(usage).some((amount) => amount > 0)) this.#opening.transcript({ kind: 'usage', usage });
    return usage;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection?.close();
  }
}

interface RawUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** Some programs count cached input separately, but in the total. */
function tokensOf({ inputTokens, outputTokens, totalTokens }: RawUsage): Usage {
  return { inputTokens: Math.max(inputTokens, totalTokens - outputTokens), outputTokens };
}

function add(a: Usage, b: Usage): Usage {
  const sum = (x?: number, y?: number) => (x === undefined ? y : x + (y ?? 0));
  const all = {
    inputTokens: sum(a.inputTokens, b.inputTokens),
    outputTokens: sum(a.outputTokens, b.outputTokens),
    costUsd: sum(a.costUsd, b.costUsd),
  };
  return Object.fromEntries(Object.entries(all).filter(([, amount]) => amount !== undefined));
}

function usageOf({ usage }: Answer): { usage?: Usage } {
  return usage === undefined ? {} : { usage };
}

function stuck(reason: string, remedy = 'correct `acp-command:`, or the settings of that program'): Answer {
  return { kind: 'trouble', trouble: { reason: `acp: ${reason}`, remedy } };
}

/** It may be temporary: two that start at once may conflict. */
function stuckStart(end: string): Answer {
  const hint = 'if it stays so, run the line of `acp-command:` in a terminal, and correct what it says';
  return { kind: 'trouble', trouble: { reason: `acp: the program did not start: ${end} (${hint})` } };
}

function breachAnswer(title: string): Answer {
  return stuck(
    `the program used a tool that its role does not have, without asking: ${title}`,
    'set the program so that it asks before it edits or runs anything; docs/agents.md says how',
  );
}

function toAcp(name: string, server: McpServer): AcpServer {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([key, value]) => ({ name: key, value }));
  if (server.kind !== 'stdio') return { type: server.kind, name, url: server.url, headers: pairs(server.headers) };
  return { name, command: server.command, args: [...server.args], env: pairs(server.env) };
}

type FoundServers =
  | { readonly servers: readonly [string, McpServer][] }
  | { readonly problem: string; readonly remedy: string };

async function findServers(
  named: readonly string[],
  folders: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<FoundServers> {
  const project = await readMcpJson(folders, environment);
  const servers: [string, McpServer][] = [];
  for (const name of named) {
    const server = project.servers.get(name);
    if (!server) {
      const problems = project.problems.map((each) => ` (${each})`).join('');
      return {
        problem: `no .mcp.json has an MCP server ${name}${problems}`,
        remedy: 'add it there, or correct `tools:`',
      };
    }
    servers.push([name, server]);
  }
  return { servers };
}
