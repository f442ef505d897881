// A plugin of OpenCode, which `nightshift init` writes beside the agents. Their rules are the same for every task; what the
// `tools:` of a task name (the shell, MCP servers) is added here, to the rules of the one session whose agent was told of
// that task. Without this plugin nobody has more than the rules in the agents' files.
import { toolsFor } from './nightshift-guard/task-tools.ts';

interface World {
  readonly directory: string;
  readonly client: {
    readonly session: {
      get(of: OfSession): Answer<Rules>;
      /** Added to the session's own rules, which come after those of its agent. The last rule that matches decides. */
      update(of: OfSession & { body: Rules }): Answer<unknown>;
    };
    readonly app: { agents(): Answer<readonly (Rules & { readonly name: string })[]> };
    readonly mcp: { status(): Answer<Servers> };
  };
}

interface OfSession {
  readonly path: { readonly id: string };
}

type Answer<T> = Promise<{ readonly data?: T }>;
type Servers = Readonly<Record<string, { readonly status: string }>>;

interface Rules {
  readonly permission?: readonly Rule[];
}

interface Rule {
  readonly permission: string;
  readonly pattern: string;
  readonly action: 'allow' | 'deny' | 'ask';
}

/** Everything that is exported here is a plugin to OpenCode. */
export async function NightshiftTools({ directory, client }: World) {
  return {
    /** Before the model is asked for the first time; what is thrown goes to whoever started the agent. */
    async 'chat.message'(
      { sessionID }: { sessionID: string },
      { message, parts }: { message: { agent: string }; parts: readonly { text?: string }[] },
    ) {
      const tools = toolsFor(message.agent, parts.map(({ text = '' }) => text).join('\n'), directory);
      if (tools === undefined) return;
      const path = { id: sessionID };
      const [session, agents, status] = await Promise.all([
        client.session.get({ path }),
        client.app.agents(),
        client.mcp.status(),
      ]);
      const servers = status.data ?? {};
      checkConnected(tools, servers);
      const { permission: own = [] } = agents.data?.find(({ name }) => name === message.agent) ?? {};
      const permission = rulesFor(tools, Object.keys(servers), own);
      checkFresh(session.data?.permission ?? [], permission);
      if (permission.length > 0) await client.session.update({ path, body: { permission } });
    },
  };
}

/** Without it, an item would fail that is not to blame. */
function checkConnected(tools: readonly string[], servers: Servers): void {
  const missing = tools.find((tool) => tool !== 'bash' && servers[tool]?.status !== 'connected');
  if (missing === undefined) return;
  const why = servers[missing]?.status ?? 'not in its configuration';
  throw new Error(`The task needs the MCP server ${missing}, which this OpenCode has not connected (${why}).`);
}

/** What was given can't be taken back from a session. */
function checkFresh(had: readonly Rule[], now: readonly Rule[]): void {
  const isMore = (rule: Rule) => isGift(rule) && !now.some(({ permission }) => permission === rule.permission);
  if (had.some(isMore)) throw new Error('This agent was given tools for another task. Start a fresh one.');
}

function isGift({ permission, pattern, action }: Rule): boolean {
  return action === 'allow' && pattern === '*' && (permission === 'bash' || permission.endsWith('_*'));
}

/**
 * The shell, and each server, as a whole. What the agent's rules say about a part of that (`git push*`, `alpha_delete`) stays, and
 * nothing of it is left to ask.
 */
function rulesFor(tools: readonly string[], servers: readonly string[], own: readonly Rule[]): Rule[] {
  const named = servers.filter((server) => tools.includes(server));
  const isNamed = (permission: string) =>
    tools.includes(permission) || named.some((server) => permission.startsWith(toolsOf(server).slice(0, -1)));
  // A tool is called SERVER_TOOL: the longer name of two that begin alike has to come later.
  const ofServers = servers
    .toSorted((a, b) => a.length - b.length)
    .map((server) => rule(named.includes(server) ? 'allow' : 'deny', toolsOf(server)));
  const whole = [rule('allow', 'bash'), ...ofServers].filter(({ permission }) => isNamed(permission));
  const isPart = ({ permission, pattern }: Rule) =>
    pattern !== '*' || !whole.some((each) => each.permission === permission);
  const parts = own.filter((each) => isNamed(each.permission) && isPart(each));
  return [
    ...whole,
    ...named.map((server) => rule('allow', 'read', `mcp:${server}:*`)),
    ...parts.map(({ action, permission, pattern }) => rule(action === 'allow' ? 'allow' : 'deny', permission, pattern)),
  ];
}

function rule(action: Rule['action'], permission: string, pattern = '*'): Rule {
  return { permission, pattern, action };
}

function toolsOf(server: string): string {
  return `${server.replace(/[^a-zA-Z0-9_-]/g, '_')}_*`;
}
