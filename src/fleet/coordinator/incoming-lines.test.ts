import { randomUUID } from 'node:crypto';
import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { postgresTest, startTestPostgres } from '../../../test/kit/postgres.ts';
import { createMask, NO_MASK } from '../../core/text/mask.ts';
import { FleetDatabase } from '../database.ts';
import type { Report, Work } from '../protocol.ts';
import { SCHEMA } from '../schema.ts';
import { IncomingLines } from './incoming-lines.ts';

const work = {
  kind: 'item',
  order: { role: 'dev', key: 'k', task: 'work', settings: { agent: 'a' }, item: { id: 'own', index: 3 } },
} as unknown as Work;
const own = { task: 'work', index: 3, item: 'own' };
const spent = (n: number, costUsd: number) => ({ n, what: { type: 'usage:spent', agent: 'a', usage: { costUsd } } });
const said = (n: number, text = 'x') => ({ n, what: { type: 'transcript', entry: { kind: 'text', text } } });
const report = (lines: number, costUsd: number, worker = 'w') =>
  ({ worker, lines, outcome: { role: 'dev', usage: { costUsd } } }) as unknown as Report;

/** The coordinator's side, with the lines that the database would have. */
function coordinator(journal: Record<string, number> = {}) {
  const events: Record<string, unknown>[] = [];
  const steps: string[] = [];
  const lines = new IncomingLines(
    {
      emit: (event) => {
        events.push({ ...event });
        steps.push('emitted');
      },
      flush: async () => {
        await later();
        steps.push('durable');
      },
      positionOf: (order, worker) => journal[`${order} ${worker}`] ?? 0,
      failpoint: () => {},
    },
    's',
    { number: 1, write: (database, use) => use(database, { executeSql: async () => ({ rows: [] }) }) },
  );
  const take = (order: string, batch: unknown, { worker = 'w', mask = NO_MASK } = {}) => {
    const rows = [{ order_id: order, n: 1, worker, lines: batch, total: '1' }];
    const query = async (text: string) => {
      if (text.startsWith('delete')) steps.push('removed');
      return { rows: text.startsWith('with') ? rows : [] };
    };
    return lines.take({ query } as unknown as FleetDatabase, mask);
  };
  const amounts = () =>
    events.flatMap(({ type, usage }) => (type === 'usage:spent' ? [(usage as { costUsd: number }).costUsd] : []));
  return { events, steps, lines, take, amounts };
}

test('a line that is not valid is dropped, with one warning for each worker', async () => {
  const { events, lines, take } = coordinator();
  lines.expect('o', work);
  await take('o', [{ n: 1, what: { type: 'transcript' } }, null, spent(2, -1), spent(3, 1)], { worker: 'evil' });
  await take('o', 'nonsense', { worker: 'evil' });
  await take('o', [{ n: 4, what: { type: 'item:recorded' } }], { worker: 'worse' });
  expect(events.map(({ type, message, n }) => message ?? `${type} ${n}`)).toEqual([
    'ignoring invalid events from worker evil',
    'usage:spent 3',
    'ignoring invalid events from worker worse',
  ]);
});

test('after an order is settled, only its spending and its refusal count, and name its item', async () => {
  const { events, lines, take } = coordinator();
  lines.expect('o', work);
  lines.close('o');
  await take('o', [said(1), spent(2, 1), { n: 3, what: { type: 'result:refused', reason: 'late', item: 'x' } }]);
  expect(events).toMatchObject([
    { type: 'usage:spent', ...own, worker: 'w', order: 'o', n: 2 },
    { type: 'result:refused', ...own, worker: 'w' },
  ]);
});

test('spending on lines that were lost is taken from the report, once', async () => {
  const { events, lines, take, amounts } = coordinator();
  lines.expect('o', work);
  await take('o', [said(1), spent(2, 0.1)]);
  // The database has lost 3 to 5; the worker has sent 6.
  await take('o', [spent(6, 0.2)]);
  lines.accept('o', report(6, 1));
  expect(amounts()).toEqual([0.1, 0.2, 0.7]);
  expect(events.at(-2)).toMatchObject({ ...own, role: 'dev', agent: 'a', order: 'o', n: 6 });
  await take('o', [spent(4, 0.7)]);
  expect(amounts()).toEqual([0.1, 0.2, 0.7]);
});

test('also the last lines may be lost; a report whose lines are all there changes nothing', async () => {
  const { lines, take, amounts } = coordinator();
  lines.expect('o', work);
  await take('o', [spent(1, 0.1)]);
  lines.accept('o', report(3, 0.4));
  await take('o', [spent(2, 0.3)]);
  expect(amounts()).toEqual([0.1, 0.3]);
  lines.expect('p', work);
  await take('p', [spent(1, 0.1), said(2)]);
  lines.accept('p', report(2, 0.4));
  expect(amounts()).toEqual([0.1, 0.3, 0.1]);
});

test('two workers that both carried out an order, after a failover, count with their own lines', async () => {
  const { lines, take, amounts } = coordinator();
  lines.expect('o', work);
  await take('o', [said(1), spent(2, 1)]);
  await take('o', [spent(1, 5)], { worker: 'v' });
  expect(lines.hasEmitted('o', { worker: 'v', lines: 2 })).toBe(false);
  lines.accept('o', report(3, 7, 'v'));
  expect(amounts()).toEqual([1, 5, 2]);
  lines.accept('o', report(2, 1));
  expect(amounts()).toEqual([1, 5, 2]);
});

test('for an order of an earlier run, it is unknown what its lines reported', async () => {
  const { events, lines, take, amounts } = coordinator({ 'o w': 4 });
  lines.expect('o', work);
  // Lines of transcripts are not in the journal: that 5 and 6 are missing means nothing.
  await take('o', [spent(7, 0.1)]);
  lines.accept('o', report(7, 1));
  expect(events).toHaveLength(1);
  lines.accept('o', report(9, 1));
  expect(events.at(-1)).toMatchObject({ type: 'run:warning', message: expect.stringContaining('only in part') });
  await take('o', [spent(8, 0.3)]);
  expect(amounts()).toEqual([0.1, 0.3]);
});

test('what a worker sends is in the journal before the database forgets it', async () => {
  const { steps, lines, take } = coordinator();
  lines.expect('o', work);
  await take('o', [spent(1, 0.1), said(2)]);
  expect(steps).toEqual(['emitted', 'emitted', 'durable', 'removed']);
});

test('the coordinator masks the values of its own .env in what a worker sends', async () => {
  const { events, lines, take } = coordinator();
  const mask = createMask({ API_TOKEN: 'canary-of-the-coordinator' });
  lines.expect('o', work);
  const text = 'it is canary-of-the-coordinator';
  const failed = { type: 'dev:finished', status: 'FAILURE', attempts: 1, ms: 1, reason: text };
  await take('o', [said(1, text), { n: 2, what: { type: 'run:warning', message: text } }, { n: 3, what: failed }], {
    mask,
  });
  const shown = 'it is [API_TOKEN]';
  expect(events).toMatchObject([{ entry: { kind: 'text', text: shown } }, { message: shown }, { reason: shown }]);
});

postgresTest('a report does not wait for lines under the name of another shift: nobody would read them', async () => {
  await using server = await startTestPostgres();
  await using database = new FleetDatabase({ url: server.url, isInsecure: false });
  await database.install();
  const { lines } = coordinator();
  const order = randomUUID();
  const send = (n: number, shift: string) =>
    server.query(`insert into ${SCHEMA}.line values ($1, $2, $3, 'w', default, '[]')`, [order, n, shift]);
  await send(1, 'another');
  expect(await lines.areWaiting(database, order)).toBe(false);
  await send(2, 's');
  expect(await lines.areWaiting(database, order)).toBe(true);
});
