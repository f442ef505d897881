import { AGENT_TRAITS, type AgentName } from '../core/model/agent-traits.ts';
import type { Agent, AgentProgram } from './agent.ts';
import { CREDENTIALS } from './credentials.ts';

/** A run needs few of them, so each is loaded when it is first used. */
const LOAD: Readonly<Record<AgentName, () => Promise<AgentProgram>>> = {
  opencode: async () => (await import('./opencode/opencode.ts')).createOpencode(),
  claude: async () => (await import('./claude/claude.ts')).claudeAgent,
  codex: async () => (await import('./codex/codex.ts')).codexAgent,
  acp: async () => (await import('./acp/acp.ts')).acpAgent,
  shell: async () => (await import('./shell.ts')).shellAgent,
  command: async () => (await import('./command.ts')).commandAgent,
};

/** Their process or server outlives an attempt, and the variables change with it. */
const WITHOUT_ENVIRONMENT: readonly string[] = ['opencode', 'acp'];

export const agentNames: readonly string[] = Object.keys(AGENT_TRAITS);

/** The agents of one run. Disposing of it ends what they keep, such as a server. */
export class AgentSet implements AsyncDisposable {
  readonly #made: Map<string, Agent>;

  /** `more`: agents of the caller, besides the built-in ones. */
  constructor(more: readonly Agent[] = []) {
    this.#made = new Map(more.map((agent) => [agent.name, agent]));
    this.names = [...agentNames, ...this.#made.keys()];
  }

  readonly names: readonly string[];

  readonly find = (name: string): Agent | undefined => {
    const agent = this.#made.get(name) ?? (isBuiltIn(name) ? builtIn(name) : undefined);
    if (agent) this.#made.set(name, agent);
    return agent;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#made.values()].map((agent) => agent[Symbol.asyncDispose]?.()));
  }
}

function isBuiltIn(name: string): name is AgentName {
  return Object.hasOwn(AGENT_TRAITS, name);
}

type Unusable = NonNullable<AgentProgram['unusable']>;

/** A run checks its tasks again whenever their files change. A model that could be used is not asked for again. */
function onceUsable(unusable: Unusable): Unusable {
  const usable = new Set<string>();
  return async (settings, context) => {
    const key = JSON.stringify([settings.model, settings.acpCommand, context]);
    if (usable.has(key)) return undefined;
    const reason = await unusable(settings, context);
    if (reason === undefined) usable.add(key);
    return reason;
  };
}

function builtIn(name: AgentName): Agent {
  let loading: Promise<AgentProgram> | undefined;
  const program = () => {
    loading ??= LOAD[name]();
    return loading;
  };
  return {
    name,
    ...AGENT_TRAITS[name],
    hasEnvironment: !WITHOUT_ENVIRONMENT.includes(name),
    credentials: CREDENTIALS[name],
    missing: async (settings, context) => (await program()).missing(settings, context),
    unusable: onceUsable(async (settings, context) => (await program()).unusable?.(settings, context)),
    inspect: async (context) => (await program()).inspect?.(context),
    open: async (opening) => (await program()).open(opening),
    [Symbol.asyncDispose]: async () => (await loading)?.[Symbol.asyncDispose]?.(),
  };
}
