import type { Queryable } from '../database.ts';
import { SCHEMA } from '../schema.ts';
import type { OrderRun } from './order-run.ts';

/** Passes on what runs signal to the orders that this worker runs: end soon, or a limit is used up. */
export async function applyRunSignals(database: Queryable, orders: readonly OrderRun[]): Promise<void> {
  const keys = [...new Set(orders.map(({ sent }) => sent.shift.key))];
  if (keys.length === 0) return;
  const { rows } = await database.query<{ key: string; is_draining: boolean; spent: string | null }>(
    `select key, is_draining, spent from ${SCHEMA}.shift where key = any($1)`,
    [keys],
  );
  for (const { key, is_draining: isDraining, spent } of rows) {
    for (const order of orders) {
      if (order.sent.shift.key !== key) continue;
      if (isDraining) order.drain();
      if (spent !== null) order.spend(spent);
    }
  }
}
