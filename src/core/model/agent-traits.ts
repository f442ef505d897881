/** What an agent is, for the parts that do not run it. An agent of your own has the same fields. */
export interface AgentTraits {
  /** Uses a model, which costs money or quota. Then a task is paused after several equal failures in a row. */
  readonly hasModel: boolean;
  /** Runs the `sh` blocks of the Steps itself and reads no prompt. Every step needs a block. */
  readonly runsSteps: boolean;
  /** Can be asked for a verdict or for lessons. If not, every criterion needs a check. */
  readonly judges: boolean;
  /** The key without which it can't start. */
  readonly needs?: 'command' | 'acp-command';
}

const WITH_MODEL: AgentTraits = { hasModel: true, runsSteps: false, judges: true };

/** The agents that Nightshift has, the default first. */
export const AGENT_TRAITS = {
  opencode: WITH_MODEL,
  claude: WITH_MODEL,
  codex: WITH_MODEL,
  acp: { ...WITH_MODEL, needs: 'acp-command' },
  shell: { hasModel: false, runsSteps: true, judges: false },
  // The program may have a model of its own: it reports what it spends.
  command: { hasModel: false, runsSteps: false, judges: true, needs: 'command' },
} as const satisfies Readonly<Record<string, AgentTraits>>;

export type AgentName = keyof typeof AGENT_TRAITS;

export type FindTraits = (agent: string) => AgentTraits | undefined;

export const findTraits: FindTraits = (agent) =>
  Object.hasOwn(AGENT_TRAITS, agent) ? AGENT_TRAITS[agent as AgentName] : undefined;
