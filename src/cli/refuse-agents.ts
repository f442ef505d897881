import { NightshiftError } from '../core/errors.ts';
import type { Io } from './io.ts';

/** A status is never written by the hand of an agent (rule D5). */
export function refuseAgents(io: Io): void {
  if (io.env.NIGHTSHIFT_ROLE === undefined) return;
  const hint = 'Nightshift writes the status itself, from your report';
  throw new NightshiftError('bad-transition', `an agent (${io.env.NIGHTSHIFT_ROLE}) does not write statuses`, hint);
}
