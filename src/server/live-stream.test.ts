import { expect, test } from 'vitest';
import { pageWith, type ServedPage, send, servePage } from '../../test/kit/served-page.ts';
import { StreamClient } from '../../test/kit/stream-client.ts';
import { until } from '../../test/running.ts';
import type { Page, StreamItem } from '../app/page/page.ts';
import type { StreamMessage } from '../core/page/history-answers.ts';

const message = (number: number) =>
  ({ kind: 'changed', shift: 'pages', version: String(number) }) satisfies StreamMessage;

/** Tells numbers from where the client was, one after the other, as a journal that is there already; then waits. */
function numbered(
  count: number,
  seen: { after?: string | undefined; ids?: readonly string[]; isOver?: boolean }[] = [],
): Page {
  return pageWith({
    stream: async function* (ids, after, signal): AsyncGenerator<StreamItem> {
      const own: (typeof seen)[number] = { after, ids, isOver: false };
      seen.push(own);
      for (let i = Number(after ?? 0) + 1; i <= count; i++) yield { id: String(i), message: message(i) };
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      own.isOver = true;
    },
  });
}

async function follow(
  { port, cookie }: ServedPage,
  target: string,
  headers: Record<string, string> = {},
): Promise<StreamClient> {
  return new StreamClient(port, target, { Cookie: await cookie(), ...headers });
}

const upTo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => ({ id: String(first + i), message: message(first + i) }));

test('S8 a stream says its ids, and a client resumes after the last one that it got', async () => {
  const seen: { after?: string | undefined; ids?: readonly string[] }[] = [];
  const served = await servePage(numbered(20, seen));
  const whole = await follow(served, '/api/stream?shift=pages&shift=archive/old');
  await until(() => whole.received.length === 20, 'all messages');
  expect(whole.received).toEqual(upTo(1, 20));
  expect(whole.text).toMatch(/content-type: text\/event-stream.*cache-control: no-store/is);
  const byHeader = await follow(served, '/api/stream?shift=pages&after=3', { 'Last-Event-ID': '12' });
  const byQuery = await follow(served, '/api/stream?shift=pages&after=17');
  await until(() => byHeader.received.length === 8 && byQuery.received.length === 3, 'the rest');
  expect([byHeader.received, byQuery.received]).toEqual([upTo(13, 20), upTo(18, 20)]);
  expect(seen.map(({ after, ids }) => [after, ids])).toEqual([
    [undefined, ['pages', 'archive/old']],
    ['12', ['pages']],
    ['17', ['pages']],
  ]);
});

test('S8 a stream ends with its client, and all of them with the server', async () => {
  const seen: { isOver?: boolean }[] = [];
  const served = await servePage(numbered(1, seen));
  const clients = await Promise.all(Array.from({ length: 7 }, () => follow(served, '/api/stream?shift=pages')));
  await until(() => clients.every(({ received }) => received.length === 1), 'seven streams');
  clients[0]!.socket.destroy();
  await until(() => seen.filter(({ isOver }) => isOver).length === 1, 'the end of the first');
  await served.server[Symbol.asyncDispose]();
  await until(() => clients.every(({ isClosed }) => isClosed), 'the end of all');
  expect(seen.map(({ isOver }) => isOver)).toEqual(Array(7).fill(true));
  // The last chunk: the server did not break off.
  expect(clients.slice(1).map(({ text }) => text.endsWith('0\r\n\r\n'))).toEqual(Array(6).fill(true));
});

test('S8 S13 a client that does not read gets no more, and costs no memory', async () => {
  let told = 0;
  const big = 'x'.repeat(100_000);
  const page = pageWith({
    stream: async function* (_, __, signal) {
      while (!signal.aborted && told < 1000) {
        told++;
        yield { message: { kind: 'changed', shift: big, version: '' } };
      }
    },
  });
  const served = await servePage(page);
  const client = await follow(served, '/api/stream?shift=pages');
  client.socket.pause();
  let before = -1;
  await until(() => {
    const isStill = told > 0 && told === before;
    before = told;
    return isStill;
  }, 'the stream to wait');
  // What the system itself keeps for a connection.
  expect(told).toBeLessThan(200);
  client.socket.resume();
  await until(() => told > before + 100, 'the stream to go on');
});

test('S8 there are only so many streams; what is full says so', async () => {
  const seen: { isOver?: boolean }[] = [];
  const served = await servePage(numbered(1, seen));
  const cookie = await served.cookie();
  const clients = Array.from(
    { length: 64 },
    () => new StreamClient(served.port, '/api/stream?shift=pages', { Cookie: cookie }),
  );
  await until(() => clients.every(({ received }) => received.length === 1), 'all streams');
  const { status, code } = await send(served.port, 'GET', '/api/stream?shift=pages', { headers: { Cookie: cookie } });
  expect([status, code]).toEqual([503, 'too-many-streams']);
  expect((await send(served.port, 'GET', '/api/project', { headers: { Cookie: cookie } })).status).toBe(200);
  clients[0]!.socket.destroy();
  await until(() => seen.some(({ isOver }) => isOver), 'the end of one');
  const next = new StreamClient(served.port, '/api/stream?shift=pages', { Cookie: cookie });
  await until(() => next.received.length === 1, 'another');
});

test('S8 a stream that breaks ends alone, and shows the bug', async () => {
  const page = pageWith({
    stream: async function* () {
      yield { id: '1', message: message(1) };
      throw new TypeError('a broken fold');
    },
  });
  const served = await servePage(page);
  const client = await follow(served, '/api/stream?shift=pages');
  await until(() => client.isClosed, 'its end');
  expect(client.received).toEqual(upTo(1, 1));
  expect(served.warnings.join()).toContain('a broken fold');
  expect((await send(served.port, 'GET', '/')).status).toBe(200);
});
