import { expect, test, vi } from 'vitest';
import type { Outcome } from '../../core/model/model.ts';
import type { FleetDatabase } from '../database.ts';
import { PROTOCOL } from '../protocol.ts';
import type { Offers } from './offers.ts';
import { WorkerLoop } from './worker-loop.ts';

const ID = '11111111-1111-1111-1111-111111111111';
const settings = { agent: 'shell', timeoutMs: 60_000 };
const order = { task: 'work', role: 'dev', token: 't', settings, item: { index: 0, id: 'i' } };

function jobOf(id: string): object {
  const work = { kind: 'item', order };
  const body = JSON.stringify({ protocol: PROTOCOL, id, shift: { key: 'k', name: 's' }, needs: [], work });
  return { id, data: { body, signature: '' }, heartbeatSeconds: 10, startedOn: new Date() };
}

const nothing = async () => {};
const offers = { list: [], problems: [], isResting: false, isAsked: true, refresh: nothing, noteOutcome() {} };
const worker = {
  ...{ id: 'w', name: 'w', version: '0', tell: () => {}, verify: () => true },
  offers: offers as unknown as Offers,
};

/** A database with one order, whose answers to `fetch` the test gives. */
function slowDatabase(fetched: Promise<void>, onFetch: () => void) {
  const completed: unknown[] = [];
  let fetches = 0;
  const boss = {
    complete: async (_: string, __: string, report: unknown) => {
      completed.push(report);
      return { affected: 1 };
    },
    fetch: async () => {
      if (fetches++ > 0) return [];
      onFetch();
      await fetched;
      return [jobOf(ID)];
    },
  };
  const query = async (text: string) => {
    if (text.includes('route.queue')) return { rows: [{ queue: 'q', needs: [] }] };
    return { rows: text.includes('insert into nightshift.worker') ? [{ mode: 'run' }] : [] };
  };
  const database = { join: nothing, listen: nothing, notify: nothing, query, boss } as unknown as FleetDatabase;
  return { database, completed };
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

test('an order that arrives after the stop is given back, and its agent does not start', async () => {
  const asked = gate();
  const answered = gate();
  const signals: boolean[] = [];
  const { database, completed } = slowDatabase(answered.opened, asked.open);
  const loop = new WorkerLoop({
    ...{ ...worker, database, slots: 1 },
    perform: async (_, { signal }) => {
      signals.push(signal.aborted);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { role: 'dev', usage: {} } as Outcome;
    },
  });
  const run = loop.run();
  await asked.opened;
  loop.stop();
  answered.open();
  await run;
  expect(signals).toEqual([true]);
  expect(completed).toEqual([
    expect.objectContaining({ outcome: expect.objectContaining({ reason: 'the worker was stopped' }) }),
  ]);
});

test('without a database for long, all agents are ended, and this is told once', async () => {
  const told: string[] = [];
  let isTaken = false;
  let isGone = false;
  let failedBeats = 0;
  const unlessGone = <T>(answer: T) =>
    isGone ? Promise.reject(new Error('Connection terminated')) : Promise.resolve(answer);
  const boss = {
    complete: () => unlessGone({ affected: 1 }),
    fetch: async () => {
      if (isTaken) return unlessGone([]);
      isTaken = true;
      return [jobOf(ID)];
    },
  };
  const query = (text: string) => {
    if (isGone && text.includes('update nightshift.pulse')) failedBeats++;
    if (text.includes('route.queue')) return unlessGone({ rows: [{ queue: 'q', needs: [] }] });
    return unlessGone({ rows: text.includes('insert into nightshift.worker') ? [{ mode: 'run' }] : [] });
  };
  const database = { join: nothing, listen: nothing, notify: nothing, query, boss } as unknown as FleetDatabase;
  const loop = new WorkerLoop({
    ...{ ...worker, database, slots: 1, silenceMs: 1500, tell: (message: string) => told.push(message) },
    perform: async (_, { signal }) => {
      isGone = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      failedBeats = 0;
      return { role: 'dev', usage: {} } as Outcome;
    },
  });
  const run = loop.run();
  const silence = 'no answer from the database for 1.5s: stopping all agents';
  await vi.waitFor(() => expect(told).toContain(silence), 10_000);
  await vi.waitFor(() => expect(failedBeats).toBe(2), 10_000);
  isGone = false;
  await vi.waitFor(() => expect(told.at(-1)).toBe('the database is back'), 10_000);
  await vi.waitFor(() => expect(loop.running).toBe(0), 10_000);
  expect(told.filter((message) => message === silence)).toHaveLength(1);
  expect(told).toContainEqual(expect.stringContaining('given back: the worker was stopped'));
  loop.drain();
  await run;
});
