import { expect, test } from 'vitest';
import type { SentOrder } from '../protocol.ts';
import { OrderRun, type OrderRunOptions } from './order-run.ts';

const sent = {
  id: 'o',
  shift: { key: 's', name: 's' },
  work: { kind: 'item', order: { task: 'work', role: 'dev', item: { id: 'i', index: 0 } } },
} as unknown as SentOrder;

const QUEUE_MISSING = 'Queue q does not exist';
const LOST = 'Connection terminated unexpectedly';

/** A database whose first answer to a report may be an error. `row`: what it has of the order afterwards. */
async function handedOver(failure: string | undefined, row: { worker: string | null } | undefined) {
  let tries = 0;
  const lines: string[] = [];
  const database = {
    boss: {
      complete: async () => {
        if (failure !== undefined && (++tries === 1 || failure === QUEUE_MISSING)) throw new Error(failure);
        return { affected: 0 };
      },
    },
    notify: async () => {},
    query: async (text: string, values: string[]) => {
      if (text.includes('insert')) lines.push(values[4]!);
      return { rows: row && !text.includes('insert') ? [row] : [] };
    },
  };
  const outcome = { role: 'dev', to: 'qa', attempts: 1, outputs: {}, captured: {}, recommendations: [], usage: {} };
  const retry = { signal: new AbortController().signal };
  const options = {
    database,
    queue: 'q',
    worker: 'w',
    retry,
    perform: async () => outcome,
    noteOutcome: async () => {},
  };
  const ended = await new OrderRun(sent, options as unknown as OrderRunOptions).run();
  return { handover: 'handover' in ended && ended.handover, isToldRefused: lines.join().includes('result:refused') };
}

test.each([
  ['an answer that was lost, and an order that is gone', LOST, undefined, 'unknown'],
  ['an answer that was lost, and a report that is there', LOST, { worker: 'w' }, 'accepted'],
  ['an answer that was lost, and the report of another', LOST, { worker: 'v' }, 'refused'],
  ['an answer that was lost, and a lease that is over', LOST, { worker: null }, 'refused'],
  ['an order that is gone', undefined, undefined, 'refused'],
  ['an order that is gone with its queue', QUEUE_MISSING, undefined, 'refused'],
] as const)('%s', async (_, failure, row, handover) => {
  expect(await handedOver(failure, row)).toEqual({ handover, isToldRefused: handover === 'refused' });
});
