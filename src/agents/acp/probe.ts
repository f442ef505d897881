import { setTimeout as delay } from 'node:timers/promises';
import { createMask } from '../../core/text/mask.ts';
import type { AgentSettings, LaunchContext } from '../agent.ts';
import { type AcpConnection, connect } from './connection.ts';
import { readProtocolError } from './failure.ts';
import { chooseModel } from './model.ts';

/** How long a program may take to open a session before a run. */
const PROBE_MS = 60_000;

/**
 * Opens a session and asks nothing: that shows whether the program is logged in and has the model. What it can't say
 * in time, the run will find out.
 */
export async function unusable(
  { acpCommand = '', model }: AgentSettings,
  { folder, environment }: LaunchContext,
): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  const signal = AbortSignal.timeout(PROBE_MS);
  const start = { command: acpCommand, folder, environment, mask: createMask({}), signal };
  const connection = await connect(start, { onUpdate() {}, onPermission: () => undefined, onPrint() {} });
  try {
    const over = Promise.race([connection.ended, delay(PROBE_MS, undefined, { ref: false })]).then(() => undefined);
    return await Promise.race([findObstacle(connection, folder, model), over]);
  } finally {
    await connection.close();
  }
}

async function findObstacle(
  { agent }: AcpConnection,
  cwd: string,
  model: string | undefined,
): Promise<string | undefined> {
  try {
    await agent.request('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'nightshift', version: '0' },
    });
    const session = await agent.request('session/new', { cwd, mcpServers: [] });
    const obstacle = await chooseModel(agent, session, model);
    return obstacle && `acp: ${obstacle.problem}: ${obstacle.remedy}`;
  } catch (error) {
    const answer = readProtocolError(error);
    if (answer.kind !== 'trouble' || answer.trouble.remedy === undefined) return undefined;
    return `${answer.trouble.reason}: ${answer.trouble.remedy}`;
  }
}
