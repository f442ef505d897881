import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Usage } from '../../core/model/model.ts';
import { readOnly, type Sandbox } from '../../core/workspace/sandbox.ts';
import type {
  AgentProgram,
  AgentSettings,
  Answer,
  Inspection,
  LaunchContext,
  Opening,
  Question,
  Session,
} from '../agent.ts';
import { type AtHome, codexAtHome } from '../confined-home.ts';
import { JsonLines } from '../json-lines.ts';
import { lastJsonObject } from '../last-json.ts';
import { readMcpJson } from '../mcp-json.ts';
import { howItEnded, type ProcessResult, runProcess } from '../process/process.ts';
import { askProgram, findProgram } from '../program.ts';
import { type CodexConfig, type CodexServer, configure, type Toml } from './config.ts';
import { CodexEvents, type Totals } from './events.ts';
import { readFailure } from './failure.ts';
import { codexHome, readSessionFile, removeSessionFile, type SessionFile } from './session-file.ts';

const PROGRAM = 'codex';
const TESTED = '0.166.0';
const INSTALL = 'install it with `npm install -g @openai/codex`, then log in with `codex login`';
/** For standard error; standard output is read as it comes. */
const KEEP_BYTES = 16 * 1024;
const TIDY_MS = 10_000;

/** Codex, by `codex exec --json`: a process for each question. Codex keeps the session between them. */
export const codexAgent: AgentProgram = {
  missing,
  unusable,
  inspect,
  async open(opening) {
    return new CodexSession(opening);
  },
};

async function missing({ tools }: AgentSettings, context: LaunchContext): Promise<string | undefined> {
  if ((await findProgram(PROGRAM, context)) === undefined) return `there is no program codex on PATH: ${INSTALL}`;
  const named = tools.filter((tool) => tool !== 'bash');
  // Where each item has its own folder, each has its own `.mcp.json`.
  const { folder, environment } = context;
  if (named.length === 0 || folder === undefined) return undefined;
  const found = await findServers(named, { folder, environment }, []);
  return 'problem' in found ? [found.problem, found.remedy ?? 'try again'].join(': ') : undefined;
}

async function inspect(context: LaunchContext): Promise<Inspection> {
  const version = await askProgram(PROGRAM, ['--version'], context);
  const said = version.kind === 'exited' && version.code === 0 ? /\d+\.\d+\.\d+\S*/.exec(version.stdout.text) : null;
  if (!said) return { tested: TESTED, hint: INSTALL };
  const found = { version: said[0], tested: TESTED };
  if (await isLoggedIn(context)) return { ...found, isLoggedIn: true };
  if (hasKey(context)) return found;
  const hint = (await hasOwnProvider(context)) ? `${LOG_IN}, if your model provider asks for it` : LOG_IN;
  return { ...found, isLoggedIn: false, hint };
}

async function unusable(_: AgentSettings, context: LaunchContext): Promise<string | undefined> {
  if (hasKey(context) || (await hasOwnProvider(context)) || (await isLoggedIn(context))) return undefined;
  return `codex is not logged in: ${LOG_IN}`;
}

async function isLoggedIn(context: LaunchContext): Promise<boolean> {
  const login = await askProgram(PROGRAM, ['login', 'status'], context);
  return login.kind === 'exited' && login.code === 0;
}

/** Codex reads a key of the environment only when it asks a model. */
function hasKey({ environment: { CODEX_API_KEY, OPENAI_API_KEY } }: LaunchContext): boolean {
  return CODEX_API_KEY !== undefined || OPENAI_API_KEY !== undefined;
}

const LOG_IN = 'log in with `codex login`';

/** Another provider than OpenAI may need no login. */
async function hasOwnProvider({ folder, environment }: LaunchContext): Promise<boolean> {
  const files = [codexHome(environment), join(folder ?? '/', '.codex')].map((home) => join(home, 'config.toml'));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.some((text) => /^\s*(model_provider|oss_provider|profile)\s*=/m.test(text));
}

class CodexSession implements Session {
  readonly #opening: Opening;
  #threadId: string | undefined;
  #isLost = false;
  #counted: Totals = { input: 0, output: 0 };
  #compactions = 0;
  #environment: Readonly<Record<string, string>> = {};

  constructor(opening: Opening) {
    this.#opening = opening;
  }

  get remembers(): boolean {
    return this.#threadId !== undefined && !this.#isLost;
  }

  async ask(question: Question): Promise<Answer> {
    const { folder, shiftFolder, settings, signal, transcript } = this.#opening;
    const home = await codexAtHome(this.#opening, question.environment);
    this.#environment = home.environment;
    transcript({ kind: 'prompt', text: question.prompt });
    const named = settings.tools.filter((tool) => tool !== 'bash' && this.#opening.role !== 'manager');
    const found = await findServers(
      named,
      { folder, environment: question.environment },
      [rootOf(shiftFolder)],
      signal,
    );
    if ('problem' in found) {
      if (signal.aborted) return { kind: 'aborted' };
      if (found.isItems) return { kind: 'failed', reason: found.problem };
      const { problem, remedy } = found;
      const trouble = { reason: `codex: ${problem}`, ...(remedy === undefined ? {} : { remedy }) };
      return { kind: 'trouble', trouble };
    }
    const events = new CodexEvents(transcript);
    const lines = new JsonLines(events.read, (line) => transcript({ kind: 'output', text: `${line}\n` }));
    const config = await configure(this.#opening, found.servers);
    const ended = await runProcess({
      file: PROGRAM,
      args: await this.#arguments(question, config),
      cwd: folder,
      env: { ...home.environment, ...config.environment },
      input: question.prompt,
      signal,
      onOutput: (stream, text) =>
        stream === 'stdout' ? lines.add(text) : transcript({ kind: 'error', text: withoutNoise(text) }),
      keepBytes: KEEP_BYTES,
      mask: this.#opening.mask,
      sandbox: confinedFor(this.#opening, home),
    });
    lines.end();
    this.#threadId = events.threadId ?? this.#threadId;
    const file = await this.#readFile();
    const answer = readAnswer(ended, events, file);
    // A failed turn may fail again because of what the session holds by now.
    this.#isLost = answer.kind !== 'report' && answer.kind !== 'no-report';
    return { ...answer, ...this.#account(events, file) };
  }

  async #arguments(question: Question, config: CodexConfig): Promise<string[]> {
    const { settings, scratch } = this.#opening;
    const schema = join(scratch, 'codex-report.json');
    await writeFile(schema, JSON.stringify(question.schema));
    return [
      'exec',
      ...(this.#threadId === undefined ? [] : ['resume', this.#threadId]),
      ...['--json', '--skip-git-repo-check', '--output-schema', schema],
      ...(settings.model === undefined ? [] : ['--model', settings.model]),
      ...config.settings.flatMap((each) => ['-c', each]),
      '-',
    ];
  }

  async #readFile(): Promise<SessionFile | undefined> {
    return this.#threadId === undefined ? undefined : readSessionFile(this.#environment, this.#threadId);
  }

  /** Codex reports totals of the session. */
  #account(events: CodexEvents, file: SessionFile | undefined): { usage: Usage; compacted: boolean } {
    // Either may be missing or incomplete, and neither is ever too high.
    const told = [this.#counted, events.totals, file?.totals].filter((each) => each !== undefined);
    const totals = {
      input: Math.max(...told.map(({ input }) => input)),
      output: Math.max(...told.map(({ output }) => output)),
    };
    const usage = {
      inputTokens: totals.input - this.#counted.input,
      outputTokens: totals.output - this.#counted.output,
    };
    this.#counted = totals;
    if (usage.inputTokens + usage.outputTokens > 0) this.#opening.transcript({ kind: 'usage', usage });
    const compactions = file?.compactions ?? this.#compactions;
    const compacted = compactions > this.#compactions;
    this.#compactions = compactions;
    return { usage, compacted };
  }

  /** The sessions of a night would bury your own. The transcript has everything. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#threadId === undefined) return;
    // Codex is slow to do so. Its file holds the prompts, with values of `.env`, which must not stay on disk.
    const { signal, sandbox } = this.#opening;
    // In a sandbox, the agent could write its folder, and it goes with the order: nothing runs on it outside.
    if (signal.aborted || sandbox !== undefined) return removeSessionFile(this.#environment, this.#threadId);
    const context = { folder: this.#opening.folder, environment: this.#environment };
    await askProgram(PROGRAM, ['delete', '--force', this.#threadId], context, AbortSignal.timeout(TIDY_MS));
  }
}

/** Its own sandbox does not work in another one, so a qa's folder is read-only by this one. */
function confinedFor({ role, scratch }: Opening, { sandbox }: AtHome): Sandbox | undefined {
  return role === 'dev' ? sandbox : readOnly(sandbox, scratch);
}

/** The folder that holds `.nightshift`. */
function rootOf(shiftFolder: string): string {
  return dirname(dirname(shiftFolder));
}

function readAnswer(ended: ProcessResult, events: CodexEvents, file: SessionFile | undefined): Answer {
  if (ended.kind === 'aborted') return { kind: 'aborted' };
  if (events.failure !== undefined) return readFailure({ message: events.failure, type: file?.errorType }, Date.now());
  if (events.totals !== undefined) {
    const report = lastJsonObject(events.text);
    if (report !== undefined) return { kind: 'report', report };
    const said =
      events.text.trim() === '' ? 'it said nothing at the end of its turn' : 'its last message has no JSON object';
    return { kind: 'no-report', reason: `no report: ${said}` };
  }
  if (ended.kind === 'not-started' && ended.fault === 'item') return { kind: 'failed', reason: ended.reason };
  if (events.threadId === undefined) return notBegun(ended);
  return { kind: 'failed', reason: `codex ended in the middle of its turn: ${howItEnded(ended, 'stderr')}` };
}

/** It failed before the first question: a wrong configuration, a broken MCP server, no such program. */
function notBegun(ended: Exclude<ProcessResult, { kind: 'aborted' }>): Answer {
  if (ended.kind === 'not-started') return { kind: 'trouble', trouble: { reason: ended.reason } };
  const error = /^Error:? ?([\s\S]*?)(?:\n\s*\n|$(?![\s\S]))/m.exec(ended.stderr.text)?.[0].trim();
  const reason = `codex did not start: ${error ?? howItEnded(ended, 'stderr')}`;
  if (ended.kind === 'exited' && ended.code === 127) return { kind: 'trouble', trouble: { reason, remedy: INSTALL } };
  return {
    kind: 'trouble',
    trouble: { reason, remedy: 'try `codex exec hello` in a terminal, and correct what it says' },
  };
}

/** Printed at every start if CODEX_HOME is a temporary folder. */
function withoutNoise(text: string): string {
  return text.replace(/^WARNING: proceeding, even though we could not create PATH aliases.*\n?/gm, '');
}

/** `isItems`: with the values of this item, no program could be started. */
type FoundServers =
  | { readonly servers: readonly CodexServer[] }
  | { readonly problem: string; readonly remedy?: string; readonly isItems?: boolean };

/**
 * All servers that Codex would start on its own, to turn off those that are not named; and the named ones of
 * `.mcp.json`.
 */
async function findServers(
  named: readonly string[],
  context: Required<LaunchContext>,
  more: readonly string[],
  signal?: AbortSignal,
): Promise<FoundServers> {
  const ended = await askProgram(PROGRAM, ['mcp', 'list', '--json'], context, signal);
  const own = ended.kind === 'exited' && ended.code === 0 ? readList(ended.stdout.text) : undefined;
  // A machine that has no room for another process recovers.
  if (ended.kind === 'not-started') return { problem: ended.reason, isItems: ended.fault === 'item' };
  if (own === undefined) {
    const end = ended.kind === 'aborted' ? 'it does not answer' : howItEnded(ended, 'stderr');
    return {
      problem: `its MCP servers are not known (${end})`,
      remedy: 'correct what `codex mcp list` says in a terminal',
    };
  }
  const servers: CodexServer[] = own.map(({ name, transport }) => {
    const envVars = transport?.type === 'stdio' ? { envVars: transport.env_vars ?? [] } : {};
    return { from: 'codex', name, isNamed: named.includes(name), ...envVars };
  });
  const rest = named.filter((name) => !own.some((each) => each.name === name));
  if (rest.length === 0) return { servers };
  const project = await readMcpJson([context.folder, ...more], context.environment);
  for (const name of rest) {
    const server = project.servers.get(name);
    if (!server) {
      const problems = project.problems.map((each) => ` (${each})`).join('');
      const remedy = `add it with \`codex mcp add ${name}\`, or correct \`tools:\``;
      return { problem: `neither Codex nor .mcp.json has an MCP server ${name}${problems}`, remedy };
    }
    servers.push({ from: 'project', name, server });
  }
  return { servers };
}

interface ListedServer {
  readonly name: string;
  readonly transport?: { readonly type?: string; readonly env_vars?: readonly Toml[] };
}

function readList(text: string): ListedServer[] | undefined {
  try {
    return JSON.parse(text) as ListedServer[];
  } catch {
    return undefined;
  }
}
