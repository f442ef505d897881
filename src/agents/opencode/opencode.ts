import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble } from '../../core/model/model.ts';
import { createMask } from '../../core/text/mask.ts';
import type { AgentProgram, AgentSettings, Inspection, LaunchContext } from '../agent.ts';
import { lastJsonObject } from '../last-json.ts';
import { readMcpJson } from '../mcp-json.ts';
import { askProgram, findProgram } from '../program.ts';
import { namedServers, splitModel } from './config.ts';
import { whyNoModel } from './models.ts';
import { OpencodeServer, type WantedServer } from './server.ts';
import { OpencodeSession, type ServerPool } from './session.ts';

const TESTED = '1.18.33';
const INSTALL = 'install it with `npm install -g opencode-ai` (https://opencode.ai)';
/**
 * A server grows by about 15 MB with every session, twice as much in a folder of its own, and never shrinks. So a new
 * one takes over after this many sessions; one in a folder of its own counts twice.
 */
const MOST_WEAR = 30;
const LATER_MS = 600;
/** How long its server may take to list the models before a run. */
const LIST_MS = 60_000;

/** OpenCode: one server for the run, one session for each item. In a sandbox, each session has its own server. */
export function createOpencode(): AgentProgram {
  const pool = new Pool();
  return {
    missing: (settings, context) => missing(settings, context, pool.knownServers),
    unusable: ({ model }, context) => unusable(model, context, pool.knownServers),
    inspect,
    async open(opening) {
      return new OpencodeSession(opening, pool);
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

async function missing(
  { model, tools }: AgentSettings,
  context: LaunchContext,
  knownServers: Set<string>,
): Promise<string | undefined> {
  if ((await findProgram('opencode', context)) === undefined) return `there is no program opencode on PATH: ${INSTALL}`;
  if (model !== undefined && !splitModel(model)) {
    return `opencode knows models as provider/model, and \`model: ${model}\` is not: \`opencode models\` lists them`;
  }
  const named = namedServers(tools);
  // Where each item has its own folder, that folder may have the server.
  if (named.length === 0 || context.folder === undefined) return undefined;
  const { servers, problems } = await readMcpJson([context.folder], context.environment);
  if (named.every((name) => servers.has(name))) return undefined;
  const ended = await askProgram('opencode', ['debug', 'config'], context);
  const config = lastJsonObject(ended.stdout.text) as { mcp?: object } | undefined;
  if (!config) return undefined;
  for (const name of Object.keys(config.mcp ?? {})) knownServers.add(name);
  const unknown = named.find((name) => !servers.has(name) && !knownServers.has(name));
  if (unknown === undefined) return undefined;
  const broken = problems.length === 0 ? '' : ` (${problems.join('; ')})`;
  return `no MCP server ${unknown} is in the configuration of opencode nor in .mcp.json${broken}: add it, or correct \`tools:\``;
}

/** Its server lists the models, and starts without asking one. What it can't say in time, the run will find out. */
async function unusable(
  model: string | undefined,
  { folder, environment }: LaunchContext,
  knownServers: ReadonlySet<string>,
): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const mask = createMask({});
  const signal = AbortSignal.timeout(LIST_MS);
  const server = await OpencodeServer.start({ root: folder, folder, environment, mask, knownServers, signal });
  if ('reason' in server) return undefined;
  try {
    const slow = delay(LIST_MS, undefined, { ref: false });
    const trouble = await Promise.race([whyNoModel(server.client, folder, model), slow]).catch(() => undefined);
    return trouble && [trouble.reason, trouble.remedy].join(': ');
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

async function inspect(context: LaunchContext): Promise<Inspection> {
  const version = await askProgram('opencode', ['--version'], context);
  if (version.kind !== 'exited' || version.code !== 0) return { tested: TESTED, hint: INSTALL };
  const { stdout } = await askProgram('opencode', ['auth', 'list'], context);
  const counts = [...stdout.text.matchAll(/(\d+) (?:credential|environment variable)/g)].map(([, count]) =>
    Number(count),
  );
  const isLoggedIn = counts.some((count) => count > 0);
  return {
    version: version.stdout.text.trim(),
    tested: TESTED,
    // A provider in its configuration may need none.
    ...(isLoggedIn
      ? { isLoggedIn }
      : { hint: 'no credentials: `opencode auth login`, unless your provider needs none' }),
  };
}

/** The servers of a run, one for each environment. */
class Pool implements ServerPool, AsyncDisposable {
  readonly knownServers = new Set<string>();
  readonly #current = new Map<string, Promise<OpencodeServer | Trouble>>();
  readonly #servers = new Set<OpencodeServer>();
  readonly #later = new Set<Promise<void>>();
  readonly #end = new AbortController();
  readonly #stop = new AbortController();

  constructor() {
    // Each session that just ended, and each server that was started, adds one listener.
    setMaxListeners(0, this.#end.signal, this.#stop.signal);
  }

  async take(wanted: WantedServer): Promise<OpencodeServer | Trouble> {
    const { environment, root, folder } = wanted;
    if (wanted.sandbox !== undefined) return this.#takePrivate(wanted);
    const key = JSON.stringify(environment);
    for (;;) {
      const current = this.#current.get(key) ?? this.#start(wanted);
      this.#current.set(key, current);
      const server = await current;
      if (!('reason' in server) && server.isAlive && server.wear < MOST_WEAR) {
        server.wear += folder === root ? 1 : 2;
        server.open++;
        return server;
      }
      if (this.#current.get(key) === current) this.#current.delete(key);
      if ('reason' in server) return server;
    }
  }

  async #takePrivate(wanted: WantedServer): Promise<OpencodeServer | Trouble> {
    const server = await this.#start(wanted);
    if (!('reason' in server)) server.open++;
    return server;
  }

  async #start({ environment, ...wanted }: WantedServer): Promise<OpencodeServer | Trouble> {
    // This mark finds everything that the server started when it is stopped: its shells are in groups of their own.
    const mark = { NIGHTSHIFT_KEY: `${environment.NIGHTSHIFT_KEY}-${randomBytes(8).toString('hex')}` };
    const { knownServers } = this;
    const { signal } = this.#stop;
    const server = await OpencodeServer.start({
      ...wanted,
      environment: { ...environment, ...mark },
      knownServers,
      signal,
    });
    if (!('reason' in server)) this.#servers.add(server);
    return server;
  }

  /** A server that took its last session is stopped after that. */
  async release(server: OpencodeServer): Promise<void> {
    server.open--;
    if (server.open > 0 || (server.isAlive && server.wear < MOST_WEAR && !server.isPrivate)) return;
    this.#servers.delete(server);
    await server[Symbol.asyncDispose]();
  }

  /** Runs once the server has begun the next item: it does one thing at a time. */
  later(work: () => Promise<void>): void {
    const done = delay(LATER_MS, undefined, { signal: this.#end.signal })
      .catch(() => {})
      .then(work)
      // If the server does not do it, nothing else can.
      .catch(() => {});
    this.#later.add(done);
    void done.finally(() => this.#later.delete(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#later);
    this.#stop.abort();
    await Promise.all(this.#current.values());
    await Promise.all([...this.#servers].map((server) => server[Symbol.asyncDispose]()));
  }
}
