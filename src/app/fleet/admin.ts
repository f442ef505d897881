import { NightshiftError } from '../../core/model/errors.ts';
import type { FleetStatus } from '../../core/model/fleet-status.ts';
import {
  addressFor,
  drainWorkers,
  initFleet,
  readFleetStatus,
  type StoppedFleet,
  stopFleet,
} from '../../fleet/admin.ts';
import { type DatabaseOptions, FleetDatabase } from '../../fleet/database.ts';
import { isSchemaMissing } from '../../fleet/failure.ts';
import type { World } from '../world.ts';
import { explainDatabaseError } from './database-error.ts';
import { verificationKey } from './signing-key.ts';

export interface NewFleet {
  /** Addresses with the passwords of the two roles. */
  readonly coordinatorUrl: string;
  readonly workerUrl: string;
  /** What workers verify orders with. */
  readonly key: string;
  /** Otherwise, addresses from before no longer work. */
  readonly isNew: boolean;
}

/** Creates the schema and its roles in a database that the address may administrate. */
export async function initialiseFleet(address: DatabaseOptions, world: World): Promise<NewFleet> {
  // First: it may be unreadable, and passwords that are set are shown only once.
  const key = await verificationKey(world);
  const { owner, worker, isNew } = await inDatabase(address, initFleet);
  const { url } = address;
  return { coordinatorUrl: addressFor(url, owner), workerUrl: addressFor(url, worker), key, isNew };
}

export function fleetStatus(address: DatabaseOptions): Promise<FleetStatus> {
  return inDatabase(address, readFleetStatus);
}

export async function drainWorker(address: DatabaseOptions, name: string): Promise<number> {
  const count = await inDatabase(address, (database) => drainWorkers(database, name));
  if (count > 0) return count;
  const hint = '`nightshift fleet status` lists the workers';
  throw new NightshiftError('not-found', `there is no worker ${JSON.stringify(name)}`, hint);
}

export function stopAll(address: DatabaseOptions): Promise<StoppedFleet> {
  return inDatabase(address, stopFleet);
}

async function inDatabase<T>(address: DatabaseOptions, use: (database: FleetDatabase) => Promise<T>): Promise<T> {
  await using database = new FleetDatabase(address);
  try {
    return await use(database);
  } catch (error) {
    if (!isSchemaMissing(error)) throw explainDatabaseError(error);
    const hint = 'create one with `nightshift fleet init --url URL`, or start a shift with --fleet';
    throw new NightshiftError('not-found', 'this database has no fleet', hint);
  }
}
