import type { Agent, Inspection, LaunchContext } from '../../agents/agent.ts';
import { agentEnvironment } from '../../agents/environment.ts';
import { AgentSet, agentNames } from '../../agents/registry.ts';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';

/** Which agents could be used, all examined at once. What a shift's own agent lacks is a problem of that shift. */
export async function checkAgentPrograms(world: World, folder: string): Promise<Finding[]> {
  await using agents = new AgentSet();
  return await Promise.all(
    agentNames.map(async (name) => {
      const agent = agents.find(name)!;
      const passEnv = agent.credentials;
      const environment = agentEnvironment({ caller: world.env, passEnv, secrets: {}, own: {} });
      return checkAgent(agent, { folder, environment });
    }),
  );
}

async function checkAgent(agent: Agent, context: LaunchContext): Promise<Finding> {
  const { name } = agent;
  const inspection = await agent.inspect?.(context);
  if (!inspection) {
    // `sh` stands for the command that a shift would name.
    const missing = await agent.missing({ command: 'sh', acpCommand: 'sh', tools: [] }, context);
    if (missing === undefined) return { level: 'ok', message: `agent ${name}` };
    return { level: 'note', message: `the agent ${name} can't be started`, remedy: missing };
  }
  return describe(name, inspection);
}

/** A missing program, or a version that was not tested, is only a note. */
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
