import { callingAgent } from '../agents/inside.ts';
import { NightshiftError } from '../core/model/errors.ts';
import type { World } from './world.ts';

/**
 * Rule D5: an agent or a check of a run may read, and may write its own status with its token. Everything else that
 * changes a shift is for people. Front ends call this before they change anything; `what` is the command or the tool.
 */
export function refuseInside({ env }: Pick<World, 'env'>, what: string): void {
  const caller = callingAgent(env);
  if (caller === undefined) return;
  const may = 'it may read, and write its own status with its token';
  throw new NightshiftError('inside-agent', `\`${what}\` is not for ${caller} that works on an item: ${may}`);
}
