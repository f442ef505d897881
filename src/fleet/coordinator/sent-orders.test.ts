import { expect, test } from 'vitest';
import type { Call } from '../../engine/worker/worker-ports.ts';
import type { Work } from '../protocol.ts';
import type { DatabaseLink } from './database-link.ts';
import type { Epoch } from './epoch.ts';
import type { FleetOptions } from './fleet-options.ts';
import type { OrderQueue } from './order-queue.ts';
import { SentOrders } from './sent-orders.ts';

const work = {
  kind: 'item',
  order: { role: 'dev', key: 'k', task: 'work', settings: { agent: 'a' }, item: { id: 'i', index: 0 } },
} as unknown as Work;

function open() {
  const removed: string[] = [];
  const warnings: string[] = [];
  const never = new AbortController().signal;
  const options = {
    ...{ shift: { key: 'k', name: 's' }, left: never, positionOf: () => 0, failpoint: () => {} },
    emit: (event: { message?: string }) => void warnings.push(event.message!),
  };
  const queue = {
    nameFor: () => 'q',
    cancel: async (orders: { id: string }[]) => void removed.push(...orders.map(({ id }) => `cancelled ${id}`)),
    forget: async (orders: { id: string }[]) => void removed.push(...orders.map(({ id }) => `removed ${id}`)),
  };
  const orders = new SentOrders(options as unknown as FleetOptions, {
    queue: queue as unknown as OrderQueue,
    link: { closing: never, unlessGivenUp: (act: Promise<void>) => act.then(() => true) } as unknown as DatabaseLink,
    epoch: {} as Epoch,
  });
  return { orders, removed, warnings };
}

const stored = (...ids: string[]) => ids.map((id) => ({ id, queue: 'q', isWaiting: true }));

test('orders that this run does not know are ended when they are seen twice, and no others', async () => {
  const { orders, removed, warnings } = open();
  const own = orders.make(work, []);
  const { id } = own.sent;
  // It counts before it is sent.
  const call = { signal: AbortSignal.abort() } as unknown as Call;
  await orders.follow(own, work, call, false);

  await orders.removeUnknown(stored(id, 'seen once', 'a', 'b'));
  await orders.removeUnknown(stored(id, 'a', 'b'));
  expect(removed.splice(0)).toEqual(['cancelled a', 'cancelled b', 'removed a', 'removed b']);
  await orders.removeUnknown(stored(id, 'seen once'));
  expect(removed).toEqual([]);
  expect(warnings).toEqual(['ended 2 orders in the database that did not belong to this run']);

  // It is forgotten while the orders are read.
  await orders.forget([own]);
  expect(removed.splice(0)).toEqual([`removed ${id}`]);
  await orders.removeUnknown(stored(id));
  await orders.removeUnknown(stored());
  expect(removed).toEqual([]);
});
