// An OpenCode plugin that `nightshift init` installs next to the agents. Their rules are the same for every task.
// This plugin adds the `tools:` of a task (the shell, MCP servers) to the rules of the session whose agent was told
// about that task. Without it, no agent has more than the rules in the agents' files.
import { toolsFor } from './nightshift-guard/task-tools.ts';

interface World {
  readonly directory: string;
  readonly client: {
    readonly session: {
      get(of: OfSession): Answer<Rules>;
      /** Added to the session's own rules, which follow those of its agent. The last matching rule decides. */
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

/** OpenCode treats every export here as a plugin. */
export async function NightshiftTools({ directory, client }: World) {
  return {
    /** Before the first prompt to the model; errors go to the starter of the agent. */
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

/** Without the server, an item would fail that is not to blame. */
function checkConnected(tools: readonly string[], servers: Servers): void {
  const missing = tools.find((tool) => tool !== 'bash' && servers[tool]?.status !== 'connected');
  if (missing === undefined) return;
  const why = servers[missing]?.status ?? 'not in its configuration';
  throw new Error(`The task needs the MCP server ${missing}, which this OpenCode has not connected (${why}).`);
}

/** A session can't lose tools that it was given. */
function checkFresh(had: readonly Rule[], now: readonly Rule[]): void {
  const isMore = (rule: Rule) => isGift(rule) && !now.some(({ permission }) => permission === rule.permission);
  if (had.some(isMore)) throw new Error('This agent was given tools for another task. Start a fresh one.');
}

function isGift({ permission, pattern, action }: Rule): boolean {
  return action === 'allow' && pattern === '*' && (permission === 'bash' || permission.endsWith('_*'));
}

/**
 * The shell, and each server, as a whole. More specific rules of the agent (`git push*`, `alpha_delete`) stay, but
 * never ask.
 */
function rulesFor(tools: readonly string[], servers: readonly string[], own: readonly Rule[]): Rule[] {
  const named = servers.filter((server) => tools.includes(server));
  const isNamed = (permission: string) =>
    tools.includes(permission) || named.some((server) => permission.startsWith(toolsOf(server).slice(0, -1)));
  // A tool is called SERVER_TOOL: the longer of two matching names has to come later.
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
