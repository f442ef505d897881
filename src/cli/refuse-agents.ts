import { NightshiftError } from '../core/errors.ts';
import type { Io } from './io.ts';

/** A status is never written by the hand of an agent (rule D5). */
export function refuseAgents(io: Io): void {
  const role = io.env.NIGHTSHIFT_ROLE;
  if (role === undefined) return;
  const hint = 'Nightshift writes the status itself, from your report';
  throw new NightshiftError('bad-transition', `an agent (${role}) does not write statuses`, hint);
}

/** An agent that works on an item looks at shifts at most; it makes, starts and stops none. */
export function refuseAgentsToManage(io: Io): void {
  const role = io.env.NIGHTSHIFT_ROLE;
  if (role === undefined) return;
  const hint = 'do your item and report; what else should be done is for the person who reads the report';
  throw new NightshiftError('usage', `an agent (${role}) that works on an item does not change shifts`, hint);
}
