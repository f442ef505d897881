import type { Queryable } from '../database.ts';
import { missingNeeds } from '../needs.ts';
import { PROTOCOL } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { shuffled } from './shuffled.ts';

/** The queues with orders that a worker with these offers can take. */
export async function fittingQueues(database: Queryable, offers: readonly string[]): Promise<string[]> {
  const { rows } = await database.query<{ queue: string; needs: readonly string[] }>(
    `select route.queue, needs from ${SCHEMA}.route
     join ${SCHEMA}.shift on shift.key = route.shift
     where shift.mode = 'run' and shift.protocol = $1 and exists (
       select from ${SCHEMA}.job where job.name = route.queue and job.state = 'created')`,
    [PROTOCOL],
  );
  const fitting = rows.filter(({ needs }) => missingNeeds(needs, offers).length === 0);
  // In random order: otherwise a shift could wait until a longer one is done.
  return shuffled(fitting.map(({ queue }) => queue));
}
