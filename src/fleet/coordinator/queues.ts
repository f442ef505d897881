import type { Queryable } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { NamedOrder } from './stored-order.ts';

/** Commands of pg-boss take the jobs of one queue. */
export function idsByQueue(orders: readonly NamedOrder[]): Map<string, string[]> {
  const ids = new Map(orders.map(({ queue }) => [queue, [] as string[]]));
  for (const { queue, id } of orders) ids.get(queue)!.push(id);
  return ids;
}

/** A failover may have lost a queue that was just opened. pg-boss would send nothing to it, and report no error. */
export async function requireQueues(database: Queryable, queues: readonly string[]): Promise<void> {
  const { rows } = await database.query<{ queue: string }>(
    `select queue from unnest($1::text[]) as queue where queue not in (select name from ${SCHEMA}.queue)`,
    [queues],
  );
  for (const { queue } of rows) throw new Error(`Queue ${queue} does not exist`);
}
