import { AGENT_TRAITS } from '../core/model/agent-traits.ts';
import { acpAgent } from './acp/acp.ts';
import type { Agent } from './agent.ts';
import { claudeAgent } from './claude/claude.ts';
import { codexAgent } from './codex/codex.ts';
import { commandAgent } from './command.ts';
import { createOpencode } from './opencode/opencode.ts';
import { shellAgent } from './shell.ts';

/** What makes each agent of `AGENT_TRAITS`. */
const MAKE: Readonly<Record<keyof typeof AGENT_TRAITS, () => Agent>> = {
  opencode: createOpencode,
  claude: () => claudeAgent,
  codex: () => codexAgent,
  acp: () => acpAgent,
  shell: () => shellAgent,
  command: () => commandAgent,
};

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
    const make = Object.hasOwn(MAKE, name) ? MAKE[name as keyof typeof MAKE] : undefined;
    const agent = this.#made.get(name) ?? make?.();
    if (agent) this.#made.set(name, agent);
    return agent;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#made.values()].map((agent) => agent[Symbol.asyncDispose]?.()));
  }
}
