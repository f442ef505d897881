import { findConfiner } from '../../agents/process/sandbox.ts';
import { agentNames } from '../../agents/registry.ts';
import type { AgentTraits } from '../../core/model/agent-traits.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import { askedCriteria } from '../../core/model/order.ts';
import type { Task } from '../../core/model/shift.ts';

type Find = (name: string) => Pick<AgentTraits, 'hasModel'> | undefined;

/** A sandbox that is asked for and not possible is an error, and never left out. */
export async function requireSandbox(task: Task, find: Find, findHere = findConfiner): Promise<void> {
  const { sandbox, agent, qaAgent = agent } = task.settings;
  if (sandbox === 'off') return;
  const place = task.place('sandbox');
  const agents = [agent, ...(askedCriteria(task).length > 0 ? [qaAgent] : [])];
  const own = agents.find((name) => !agentNames.includes(name));
  if (own !== undefined) {
    const message = `the agent ${own} of ${task.name} can't be confined: it runs in the program that called Nightshift`;
    throw new NightshiftError('agent-missing', message, `choose another agent, or write \`sandbox: false\``, place);
  }
  const asking = agents.find((name) => find(name)?.hasModel);
  if (sandbox === 'offline' && asking !== undefined) {
    const message = `\`sandbox: offline\` of ${task.name} leaves the agent ${asking} without its model`;
    const hint = 'write `sandbox: true`; `offline` is for the agents shell and command';
    throw new NightshiftError('bad-task', message, hint, place);
  }
  const here = await findHere();
  if ('file' in here) return;
  throw new NightshiftError('agent-missing', `${task.name} asks for a sandbox: ${here.reason}`, here.remedy, place);
}

/** Agents of a batch by hand are started by another program, which Nightshift can't confine. */
export function refuseSandbox({ name, settings, place }: Task): void {
  if (settings.sandbox === 'off') return;
  const message = `${name} asks for a sandbox, and the agents of a batch by hand run without one`;
  const hint = 'run it with `nightshift start`, or write `sandbox: false`';
  throw new NightshiftError('agent-missing', message, hint, place('sandbox'));
}
