import type { Queryable } from './database.ts';
import { SCHEMA } from './schema.ts';

/** How many heartbeats a worker sends per lease. */
const BEATS_IN_LEASE = 9;
/** Used while no shift has a coordinator. */
const DEFAULT_LEASE_SECONDS = 90;

export function beatSeconds(leaseSeconds: number): number {
  return Math.max(1, leaseSeconds / BEATS_IN_LEASE);
}

/**
 * Every worker and coordinator updates the pulse with each heartbeat. If it has not been updated for longer than a
 * beat, the database was down, or no machine could reach it: then no lease ends for the length of a lease, so that an
 * outage expires no lease. This grace period is in the database, because a coordinator that is killed often would never
 * reach the end of its own. If only the coordinator was away, workers kept the pulse going, and leases expire as usual.
 * Shifts may have different leases: each length has its own row and grace. The server's clock may be set back: that is a
 * gap, too, and no grace is longer than a lease. Returns the lengths without a current grace.
 */
export async function updatePulse(database: Queryable): Promise<Set<number>> {
  const { rows } = await database.query<{ lease_seconds: number; is_calm: boolean }>(
    // Locked in one order, so that concurrent updates can't deadlock.
    `with locked as (select lease_seconds as lease from ${SCHEMA}.pulse order by lease_seconds for update)
     update ${SCHEMA}.pulse set
       grace_until = case when clock_timestamp() - at
           between interval '-1 second' and make_interval(secs => lease_seconds / 6.0 + 1)
         then least(grace_until, clock_timestamp() + make_interval(secs => lease_seconds))
         else clock_timestamp() + make_interval(secs => lease_seconds) end,
       at = clock_timestamp()
     from locked where lease_seconds = lease
     returning lease_seconds, grace_until <= clock_timestamp() as is_calm`,
  );
  return new Set(rows.filter(({ is_calm: isCalm }) => isCalm).map((row) => row.lease_seconds));
}

/** For leases of this length. */
export async function startPulse(database: Queryable, leaseSeconds: number): Promise<void> {
  await database.query(`insert into ${SCHEMA}.pulse (lease_seconds) values ($1) on conflict do nothing`, [
    leaseSeconds,
  ]);
}

/** The shortest lease of all shifts with a coordinator: sets the heartbeat rate of a worker without orders. */
export async function shortestLease(database: Queryable): Promise<number> {
  const { rows } = await database.query<{ lease: number | null }>(
    `select min(lease_seconds) as lease from ${SCHEMA}.shift where pid <> 0 and ticked > now() - interval '1 hour'`,
  );
  return rows[0]?.lease ?? DEFAULT_LEASE_SECONDS;
}
