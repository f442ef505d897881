import type { ShiftPaths } from '../app/find-shift.ts';
import { fleetAddress } from '../app/fleet/fleet-address.ts';
import type { RunSettings } from '../app/run/plan-run.ts';
import type { World } from '../app/world.ts';
import type { Io } from './io.ts';
import type { Options } from './program.ts';

/** The fleet that a run asks for, until it is disposed. */
export interface FleetOfRun extends AsyncDisposable, Pick<RunSettings, 'fleet'> {
  /** How to ask for it again. An address has a password: the journal and command lines don't get it. */
  readonly again: { readonly fleet?: 'env' | 'try'; readonly insecure?: true };
  /** For a run in the background, which is asked for with `again`. */
  readonly env: World['env'];
}

/** `--dry-run` starts no server, and needs only to know that there will be one. */
const SOME_SERVER = { url: 'postgres://localhost', isInsecure: false };

/**
 * `--fleet URL`, `--fleet env` for NIGHTSHIFT_FLEET_URL, or `--fleet try` for a server that ends with the run. A caller
 * that has opened one gives it instead, and disposes it.
 */
export async function openFleetOfRun(io: Io, { root }: ShiftPaths, options: Options): Promise<FleetOfRun> {
  const { fleet, dryRun } = options;
  const plain = { again: {}, env: io.env, [Symbol.asyncDispose]: async () => {} };
  if (fleet === undefined) return plain;
  if (typeof fleet !== 'string') return { ...(fleet as FleetOfRun), [Symbol.asyncDispose]: async () => {} };
  if (fleet === 'try') {
    const again = { fleet: 'try' } as const;
    if (dryRun) return { ...plain, fleet: SOME_SERVER, again };
    const { openTry } = await import('./open-try.ts');
    return { ...plain, ...(await openTry(io, root)), again };
  }
  const address = fleetAddress(io, fleet === 'env' ? undefined : fleet, options.insecure === true);
  if (!dryRun) {
    const { verificationKey } = await import('../app/fleet/signing-key.ts');
    io.warn(`workers need --key ${await verificationKey(io)}`);
  }
  const again = { fleet: 'env' as const, ...(address.isInsecure ? { insecure: true as const } : {}) };
  return { ...plain, fleet: address, again, env: { ...io.env, NIGHTSHIFT_FLEET_URL: address.url } };
}
