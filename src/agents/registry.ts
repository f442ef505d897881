import type { Agent } from './agent.ts';
import { commandAgent } from './command.ts';
import { shellAgent } from './shell.ts';

/** Every agent that a shift can name. A new one is added here, and nowhere else. */
const AGENTS: readonly Agent[] = [shellAgent, commandAgent];

export const agentNames: readonly string[] = AGENTS.map(({ name }) => name);

export function findAgent(name: string): Agent | undefined {
  return AGENTS.find((agent) => agent.name === name);
}
