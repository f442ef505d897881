import type { Agent, Inspection, LaunchContext } from '../../agents/agent.ts';
import { agentEnvironment } from '../../agents/environment.ts';
import { AgentSet, agentNames } from '../../agents/registry.ts';
import { askedCriteria } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import type { Finding } from '../../views/findings.ts';
import type { World } from '../world.ts';

/** Which agents could play, asked at the same time; what a shift that uses one would miss is a problem of that shift. */
export async function checkAgentPrograms(world: World, folder: string): Promise<Finding[]> {
  await using agents = new AgentSet();
  return Promise.all(
    agentNames.map(async (name) => {
      const agent = agents.find(name)!;
      const passEnv = agent.credentials;
      const environment = agentEnvironment({ caller: world.env, passEnv, secrets: {}, own: {} });
      return checkAgent(agent, { folder, environment });
    }),
  );
}

/** The agents of a shift that nobody is logged in with, where the program is certain that this is needed. */
export async function checkLogins(
  world: World,
  { name, root, tasks, secrets }: Shift,
  agents: AgentSet,
): Promise<Finding[]> {
  const passEnv = tasks.flatMap(({ settings }) => settings.passEnv);
  const findings = [...new Set(tasks.flatMap(agentsOf))].map(async (used): Promise<Finding[]> => {
    const agent = agents.find(used);
    if (!agent?.inspect) return [];
    const sources = { caller: world.env, passEnv: [...agent.credentials, ...passEnv], secrets, own: {} };
    const { needsLogin, hint } = await agent.inspect({ folder: root, environment: agentEnvironment(sources) });
    if (!needsLogin) return [];
    const message = `nobody is logged in with its agent ${used}`;
    return [{ level: 'problem', shift: name, message, remedy: hint ?? 'log in with that program' }];
  });
  return (await Promise.all(findings)).flat();
}

function agentsOf(task: Task): string[] {
  const { agent, qaAgent = agent } = task.settings;
  return askedCriteria(task).length > 0 ? [agent, qaAgent] : [agent];
}

async function checkAgent(agent: Agent, context: LaunchContext): Promise<Finding> {
  const { name } = agent;
  if (!agent.inspect) {
    // Any command stands for the one that a shift names.
    const missing = await agent.missing({ command: 'sh', acpCommand: 'sh', tools: [] }, context);
    if (missing === undefined) return { level: 'ok', message: `agent ${name}` };
    return { level: 'note', message: `the agent ${name} can't be started`, remedy: missing };
  }
  return describe(name, await agent.inspect(context));
}

/** What is not installed, or is another version than the tested one, is worth a note and no more. */
function describe(name: string, { version, tested, isLoggedIn, hint }: Inspection): Finding {
  if (version === undefined) {
    return { level: 'note', message: `agent ${name}: not installed`, ...(hint === undefined ? {} : { remedy: hint }) };
  }
  const login = isLoggedIn === undefined ? '' : isLoggedIn ? ', logged in' : ', not logged in';
  const isTested = version === tested;
  const message = `agent ${name} ${version}${isTested ? '' : ` (tested: ${tested})`}${login}`;
  if (isLoggedIn === false) return { level: 'note', message, remedy: hint ?? 'log in with that program' };
  if (isTested) return { level: 'ok', message };
  return { level: 'note', message, remedy: hint ?? `if it behaves oddly, try version ${tested}` };
}
