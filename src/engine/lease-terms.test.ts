import { expect, it } from 'vitest';
import { MemoryStore } from '../store/memory/memory-store.ts';
import { leaseTerms, renewLeases } from './lease-terms.ts';

it('T8 a run renews all of its own leases, and no others', async () => {
  const store = new MemoryStore({ rows: [{ work: 'todo' }, { work: 'qa' }, { work: 'todo' }], tasks: ['work'] });
  const snapshot = await store.snapshot();
  const [first, waiting, other] = [0, 1, 2].map((row) => snapshot.id(row)) as [string, string, string];
  let time = 0;
  const holder = { owner: 'run-1', clock: { now: () => time } };
  await store.claim('work', [first, waiting], leaseTerms(holder));
  await store.claim('work', [other], leaseTerms({ ...holder, owner: 'run-2' }));
  const { expiresAt } = (await store.leases())[0]!;
  time = expiresAt - 1;
  await renewLeases({ ...holder, store });
  expect((await store.leases()).map((lease) => [lease.owner, lease.expiresAt])).toEqual([
    ['run-1', time + expiresAt],
    ['run-1', time + expiresAt],
    ['run-2', expiresAt],
  ]);
});
