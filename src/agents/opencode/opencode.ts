import { setTimeout as delay } from 'node:timers/promises';
import { createMask } from '../../core/text/mask.ts';
import type { AgentProgram, AgentSettings, Inspection, LaunchContext } from '../agent.ts';
import { lastJsonObject } from '../last-json.ts';
import { readMcpJson } from '../mcp-json.ts';
import { askProgram, findProgram } from '../program.ts';
import { namedServers, splitModel } from './config.ts';
import { whyNoModel } from './models.ts';
import { OpencodePool } from './pool.ts';
import { OpencodeServer } from './server.ts';
import { OpencodeSession } from './session.ts';

const TESTED = '1.18.33';
const INSTALL = 'install it with `npm install -g opencode-ai` (https://opencode.ai)';
/** How long its server may take to list the models before a run. */
const LIST_MS = 60_000;

/** OpenCode: one server for the run, one session for each item. In a sandbox, each session has its own server. */
export function createOpencode(): AgentProgram {
  const pool = new OpencodePool();
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
