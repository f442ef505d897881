import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Trouble, Usage } from '../../core/model/model.ts';
import type { AgentProgram, Answer, LaunchContext, Opening, Question, Session } from '../agent.ts';
import { claudeAtHome } from '../confined-home.ts';
import { isRecord } from '../json-lines.ts';
import { type ProcessResult, runProcess } from '../process/process.ts';
import { askProgram, findProgram } from '../program.ts';
import {
  claudeArguments,
  claudeEnvironment,
  differenceFrom,
  namedServers,
  type SessionNeeds,
  wantedTools,
} from './arguments.ts';
import { INSTALL, LOG_IN, readAnswer } from './errors.ts';
import { configuredServers, removeSession } from './home.ts';
import { ClaudeStream } from './stream.ts';

const PROGRAM = 'claude';
const TESTED = '2.1.325';
const ADD_SERVER = 'add it with `claude mcp add`, or to .mcp.json, or correct `tools:`';
/** Everything useful comes as events. */
const KEEP_BYTES = 16 * 1024;

/** Claude Code: `claude -p` for each question, in one session of the program. */
export const claudeAgent: AgentProgram = {
  async missing({ tools }, context) {
    if ((await findProgram(PROGRAM, context)) === undefined) return `there is no program claude on PATH: ${INSTALL}`;
    // Where each item has its own folder, that folder may have the server.
    if (context.folder === undefined) return undefined;
    const unknown = unknownServer(namedServers(tools), await configuredServers(context.folder, context.environment));
    return unknown === undefined ? undefined : `${unknown}: ${ADD_SERVER}`;
  },
  async unusable(_, context) {
    return (await isLoggedIn(context)) === false ? `claude is not logged in: ${LOG_IN}` : undefined;
  },
  async inspect(context) {
    const version = await askProgram(PROGRAM, ['--version'], context);
    if (version.kind !== 'exited' || version.code !== 0) return { tested: TESTED, hint: INSTALL };
    const loggedIn = await isLoggedIn(context);
    return {
      version: version.stdout.text.trim().split(' ')[0] ?? '',
      tested: TESTED,
      ...(loggedIn === undefined ? {} : { isLoggedIn: loggedIn }),
      ...(loggedIn === false ? { hint: LOG_IN } : {}),
    };
  },
  async open(opening) {
    return new ClaudeSession(opening);
  },
};

/** Undefined: it can't tell. */
async function isLoggedIn(context: LaunchContext): Promise<boolean | undefined> {
  const { loggedIn } = objectIn(await askProgram(PROGRAM, ['auth', 'status'], context));
  return typeof loggedIn === 'boolean' ? loggedIn : undefined;
}

function objectIn({ stdout }: ProcessResult): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(stdout.text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function unknownServer(named: readonly string[], configured: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = named.find((name) => !Object.hasOwn(configured, name));
  return unknown === undefined ? undefined : `\`tools:\` names ${unknown}, and Claude Code has no such MCP server here`;
}

class ClaudeSession implements Session {
  readonly #opening: Opening;
  readonly #wanted: SessionNeeds;
  /** The program's sessions: the current one, and all of them with their environments. */
  #id = '';
  readonly #begun = new Map<string, Question['environment']>();
  /** What the program's session has used so far. */
  #total: Usage = {};
  remembers = false;

  constructor(opening: Opening) {
    this.#opening = opening;
    this.#wanted = wantedTools(opening);
  }

  async ask(question: Question): Promise<Answer> {
    this.#opening.transcript({ kind: 'prompt', text: question.prompt });
    const configured = await configuredServers(this.#opening.folder, question.environment);
    const unknown = unknownServer(this.#wanted.servers, configured);
    if (unknown !== undefined) return { kind: 'trouble', trouble: { reason: unknown, remedy: ADD_SERVER } };
    const { answer, stream } = await this.#run(question, await this.#writeServers(configured));
    const usage = this.#account(stream);
    if (usage.inputTokens) this.#opening.transcript({ kind: 'usage', usage });
    // A failed turn may fail again because of what the session holds by now.
    this.remembers = (answer.kind === 'report' || answer.kind === 'no-report') && !stream.compacted;
    return { ...answer, usage, compacted: stream.compacted };
  }

  /** They may hold secrets, so they are not in arguments, which every user of the machine can see. */
  async #writeServers(configured: Readonly<Record<string, unknown>>): Promise<string> {
    const file = join(this.#opening.scratch, 'mcp-servers.json');
    const mcpServers = Object.fromEntries(this.#wanted.servers.map((name) => [name, configured[name]]));
    await writeFile(file, JSON.stringify({ mcpServers }), { mode: 0o600 });
    return file;
  }

  async #run(question: Question, serversFile: string): Promise<{ answer: Answer; stream: ClaudeStream }> {
    const { transcript, folder, scratch, signal } = this.#opening;
    if (!this.remembers) this.#begin(question);
    const stop = new AbortController();
    let obstacle: Trouble | undefined;
    const stream = new ClaudeStream(transcript, (inForce) => {
      obstacle = differenceFrom(this.#wanted, inForce);
      if (obstacle !== undefined) stop.abort();
    });
    const { environment, sandbox } = await claudeAtHome(this.#opening, question.environment);
    const ended = await runProcess({
      file: PROGRAM,
      args: claudeArguments({
        opening: this.#opening,
        wanted: this.#wanted,
        schema: question.schema,
        session: this.#id,
        goesOn: this.remembers,
        serversFile,
      }),
      cwd: folder,
      env: claudeEnvironment(environment, scratch),
      input: question.prompt,
      signal: AbortSignal.any([signal, stop.signal]),
      onOutput: (from, text) => (from === 'stdout' ? stream.add(text) : transcript({ kind: 'error', text })),
      keepBytes: KEEP_BYTES,
      mask: this.#opening.mask,
      sandbox,
    });
    stream.end();
    if (obstacle !== undefined && !signal.aborted) return { answer: { kind: 'trouble', trouble: obstacle }, stream };
    return { answer: ended.kind === 'aborted' ? { kind: 'aborted' } : readAnswer(ended, stream), stream };
  }

  #begin({ environment }: Question): void {
    this.#id = randomUUID();
    this.#begun.set(this.#id, environment);
    this.#total = {};
  }

  /** The program reports the total of the session: the difference is new. */
  #account({ ending, usedSoFar }: ClaudeStream): Usage {
    if (ending === undefined) return usedSoFar;
    const before = this.#total;
    this.#total = ending.total;
    return difference(ending.total, before);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.remembers = false;
    for (const [id, environment] of this.#begun) await removeSession(id, environment).catch(() => {});
    this.#begun.clear();
  }
}

function difference(total: Usage, before: Usage): Usage {
  const more = (all = 0, earlier = 0) => Math.max(0, all - earlier);
  const inputTokens = more(total.inputTokens, before.inputTokens);
  const outputTokens = more(total.outputTokens, before.outputTokens);
  if (total.costUsd === undefined) return { inputTokens, outputTokens };
  return { inputTokens, outputTokens, costUsd: more(total.costUsd, before.costUsd) };
}
