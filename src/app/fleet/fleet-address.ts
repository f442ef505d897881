import { parseDuration } from '../../core/model/duration.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { DatabaseOptions } from '../../fleet/database.ts';
import type { World } from '../world.ts';

/** pg-boss allows no shorter one. */
const SHORTEST_LEASE_S = 10;
const LEASE_S = 90;

/** The database of a fleet: an address, or that of NIGHTSHIFT_FLEET_URL. */
export function fleetAddress(world: World, given: string | undefined, isInsecure: boolean): DatabaseOptions {
  const url = given || world.env.NIGHTSHIFT_FLEET_URL;
  if (!url) {
    const hint =
      'set NIGHTSHIFT_FLEET_URL to postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full, or use --fleet URL (start, retry, each) or --url URL (worker, fleet)';
    throw new NightshiftError('usage', 'no database address for the fleet', hint);
  }
  return { url, isInsecure };
}

/** How long a worker may send no heartbeat before its orders are given to others: NIGHTSHIFT_FLEET_LEASE. */
export function leaseSeconds({ env }: World): number {
  const text = env.NIGHTSHIFT_FLEET_LEASE;
  if (!text) return LEASE_S;
  const milliseconds = parseDuration(text);
  if (milliseconds === undefined || milliseconds < SHORTEST_LEASE_S * 1000) {
    const hint = `write it like 90s; the shortest is ${SHORTEST_LEASE_S}s`;
    throw new NightshiftError('usage', `NIGHTSHIFT_FLEET_LEASE ${JSON.stringify(text)} is not a valid lease`, hint);
  }
  return Math.round(milliseconds / 1000);
}
