import type { Agent, Answer, Opening, Question } from '../agents/agent.ts';
import { agentNames } from '../agents/registry.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { unlessAborted } from '../core/model/unless-aborted.ts';
import type { AgentReply, AgentWork, CustomAgent } from './api.ts';

/** Throws for a name that no file could mean. */
export function adaptAgents(agents: readonly CustomAgent[]): Agent[] {
  const seen = new Set<string>(agentNames);
  return agents.map((custom) => {
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(custom.name)) {
      const hint = 'use lower-case letters, digits and single hyphens';
      throw new NightshiftError('usage', `${JSON.stringify(custom.name)} can't be the name of an agent`, hint);
    }
    if (seen.has(custom.name)) {
      throw new NightshiftError('usage', `there is already an agent ${custom.name}`, 'choose another name');
    }
    seen.add(custom.name);
    return adapt(custom);
  });
}

function adapt(custom: CustomAgent): Agent {
  return {
    name: custom.name,
    hasModel: custom.hasModel ?? true,
    runsSteps: false,
    judges: true,
    hasEnvironment: true,
    credentials: [],
    missing: async () => undefined,
    open: async (opening) => ({
      remembers: false,
      ask: (question) => askCustom(custom, opening, question),
      async [Symbol.asyncDispose]() {},
    }),
  };
}

async function askCustom(custom: CustomAgent, opening: Opening, question: Question): Promise<Answer> {
  const { role, settings, folder, signal, transcript } = opening;
  const { prompt, schema, environment } = question;
  transcript({ kind: 'prompt', text: prompt });
  const work = workIn(environment);
  try {
    signal.throwIfAborted();
    // An agent that ignores its signal must not hold up the run.
    const reply = await unlessAborted(
      custom.ask({
        role,
        prompt,
        schema,
        folder,
        environment,
        ...(settings.model === undefined ? {} : { model: settings.model }),
        tools: settings.tools,
        ...(work === undefined ? {} : { work }),
        signal,
        log: (text) => transcript({ kind: 'text', text }),
      }),
      signal,
    );
    return readReply(custom.name, reply);
  } catch (error) {
    if (signal.aborted) return { kind: 'aborted' };
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'failed', reason: `the agent ${custom.name} threw an error: ${message}` };
  }
}

function workIn(environment: Question['environment']): AgentWork | undefined {
  const {
    NIGHTSHIFT_TASK: task,
    NIGHTSHIFT_ROW: row,
    NIGHTSHIFT_ATTEMPT: attempt,
    NIGHTSHIFT_ITEM: item,
  } = environment;
  if (task === undefined || item === undefined) return undefined;
  return { task, row: Number(row), attempt: Number(attempt), item: JSON.parse(item) };
}

/** A caller without types may return anything. */
function readReply(name: string, reply: AgentReply | undefined): Answer {
  if (typeof reply !== 'object' || reply === null) return { kind: 'failed', reason: `the agent ${name} gave no reply` };
  const { usage, model } = reply;
  const more = { ...(usage === undefined ? {} : { usage }), ...(model === undefined ? {} : { model }) };
  if ('report' in reply) return { kind: 'report', report: reply.report, ...more };
  if ('failed' in reply) return { kind: 'failed', reason: String(reply.failed), ...more };
  if ('trouble' in reply) {
    const { trouble: reason, until } = reply;
    return { kind: 'trouble', trouble: { reason: String(reason), ...(until === undefined ? {} : { until }) }, ...more };
  }
  return { kind: 'failed', reason: `the reply of the agent ${name} has no report`, ...more };
}
