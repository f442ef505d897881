import type { Clock } from '../core/model/clock.ts';
import type { LeaseTerms } from '../core/model/lease.ts';
import type { RunPorts } from './ports.ts';

/** How long a lease lasts without renewal. The watch renews it every half second while items run. */
const LEASE_MS = 60_000;

type Leaseholder = Pick<RunPorts, 'owner'> & { readonly clock: Pick<Clock, 'now'> };

export function leaseTerms({ owner, clock }: Leaseholder): LeaseTerms {
  const now = clock.now();
  return { owner, now, expiresAt: now + LEASE_MS };
}

/** Includes items that wait for their qa, which nothing else watches. */
export async function renewLeases({ store, ...holder }: Leaseholder & Pick<RunPorts, 'store'>): Promise<void> {
  const { owner, expiresAt } = leaseTerms(holder);
  const own = (await store.leases()).filter((lease) => lease.owner === owner);
  await store.renew(
    own.map(({ token }) => token),
    expiresAt,
  );
}
