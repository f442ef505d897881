import { expect, test } from 'vitest';
import {
  pageWith,
  type RawAnswer,
  send,
  sendBytes,
  servePage,
  TOKEN,
  WRITE_HEADERS,
} from '../../test/kit/served-page.ts';

/** Every kind of request: a file, a read, a stream, the session, a write. */
const REQUESTS = [
  ['GET', '/'],
  ['GET', '/page.js'],
  ['GET', '/api/project'],
  ['GET', '/api/stream?shift=pages'],
  ['POST', '/api/session'],
  ['POST', '/api/act'],
] as const;

const BODIES: Readonly<Record<string, string>> = {
  '/api/session': JSON.stringify({ token: TOKEN }),
  '/api/act': JSON.stringify({ shift: 'pages', action: { verb: 'pause' } }),
};

/** A page on which nothing may be read or done: what gets through is counted. */
async function watchedPage() {
  const reached: string[] = [];
  const page = pageWith({
    project: async () => {
      reached.push('project');
      return { root: '/', shifts: [] };
    },
    act: async () => {
      reached.push('act');
      return { command: '', effect: '' };
    },
    stream: () => {
      reached.push('stream');
      return (async function* () {})();
    },
  });
  const served = await servePage(page);
  const cookie = await served.cookie();
  /** As the page itself would send it, but for these headers. */
  const ask = (method: string, target: string, headers: Record<string, string | readonly string[] | undefined>) => {
    const body = method === 'POST' ? BODIES[target] : undefined;
    const own = { Cookie: cookie, ...(body === undefined ? {} : WRITE_HEADERS) };
    return send(served.port, method, target, { headers: { ...own, ...headers }, ...(body ? { body } : {}) });
  };
  return { ...served, ask, reached };
}

/** Sends every kind of request with these headers. */
async function askAll(
  { ask }: Awaited<ReturnType<typeof watchedPage>>,
  headers: Record<string, string | readonly string[] | undefined>,
): Promise<RawAnswer[]> {
  return Promise.all(REQUESTS.map(([method, target]) => ask(method, target, headers)));
}

test('S8 the page itself gets every answer, by either name of this machine', async () => {
  const served = await watchedPage();
  for (const name of ['127.0.0.1', 'localhost', 'LOCALHOST']) {
    const host = `${name}:${served.port}`;
    for (const headers of [
      { Host: host },
      { Host: host, Origin: `http://${host}`, 'Sec-Fetch-Site': 'same-origin' },
      { Host: host, 'Sec-Fetch-Site': 'none' },
    ]) {
      const answers = await askAll(served, headers);
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    }
  }
  expect(served.reached).toHaveLength(27);
});

test('S8 a name that another page let point here is refused on every route: rebinding has no Origin', async () => {
  const served = await watchedPage();
  const { port } = served;
  const hosts = [
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `evil127.0.0.1:${port}`,
    `user@127.0.0.1:${port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${port + 1}`,
    `127.0.0.1:${port}0`,
    `0.0.0.0:${port}`,
    `[::1]:${port}`,
    `127.1:${port}`,
    `127.0.0.1:${port}.`,
    '',
  ];
  for (const host of [...hosts, [`127.0.0.1:${port}`, 'evil.example']]) {
    const answers = await askAll(served, { Host: host });
    // Node refuses some by itself, with 400.
    const wrong = answers.filter(({ status, code }) => !(status === 403 && code === 'bad-host') && status !== 400);
    expect(wrong, String(host)).toEqual([]);
  }
  expect((await sendBytes(port, 'GET /api/project HTTP/1.0\r\n\r\n')).code).toBe('bad-host');
  const proxied = `GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`;
  expect((await sendBytes(port, proxied)).status).toBe(400);
  expect(served.reached).toEqual([]);
});

test('S8 an Origin other than that of the page is refused on every route, `null` too', async () => {
  const served = await watchedPage();
  const own = `http://127.0.0.1:${served.port}`;
  const origins = [
    'null',
    '',
    'http://evil.example',
    `${own}.evil.example`,
    `${own}0`,
    'http://127.0.0.1',
    `https://127.0.0.1:${served.port}`,
    `http://localhost:${served.port}`,
    `http://127.0.0.1:${served.port + 1}`,
    'file://',
    `${own}/`,
  ];
  for (const origin of [...origins, [own, 'http://evil.example']]) {
    const answers = await askAll(served, { Origin: origin });
    expect(answers.filter(({ status, code }) => status !== 403 || code !== 'bad-origin')).toEqual([]);
  }
  expect(served.reached).toEqual([]);
});

test('S8 what another site sends is refused on every route, also from another port of this machine', async () => {
  const served = await watchedPage();
  for (const site of ['cross-site', 'same-site', '', 'same-origin, cross-site', ['same-origin', 'cross-site']]) {
    const answers = await askAll(served, { 'Sec-Fetch-Site': site });
    expect(answers.filter(({ status, code }) => status !== 403 || code !== 'bad-site')).toEqual([]);
  }
  expect(served.reached).toEqual([]);
});

test('S8 a form, a plain text and a script without the header change nothing', async () => {
  const { ask, reached } = await watchedPage();
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain; application/json',
    'application/json, text/plain',
    'application/jsonp',
    undefined,
  ];
  for (const target of ['/api/act', '/api/session']) {
    for (const type of types) {
      const answer = await ask('POST', target, { 'Content-Type': type });
      expect([answer.status, answer.code, answer.headers['set-cookie']]).toEqual([415, 'not-json', undefined]);
    }
    for (const header of [undefined, '', 'true', 'pages']) {
      const answer = await ask('POST', target, { 'X-Nightshift': header });
      expect([answer.status, answer.code, answer.headers['set-cookie']]).toEqual([403, 'no-header', undefined]);
    }
  }
  expect(reached).toEqual([]);
});

test('S8 without the cookie there is nothing to see, and nothing says what there would be', async () => {
  const { port, ask, reached, cookie } = await watchedPage();
  const good = await cookie();
  const [name, value] = good.split('=') as [string, string];
  const cookies = [
    undefined,
    '',
    `${name}=`,
    `${name}=${value}x`,
    `${name}=${TOKEN}`,
    `x${good}`,
    `nightshift=${value}`,
  ];
  for (const sent of cookies) {
    for (const target of ['/api/project', '/api/stream?shift=pages', '/api/nothing', '/api/']) {
      expect((await ask('GET', target, { Cookie: sent })).code).toBe('no-session');
    }
    expect((await ask('POST', '/api/act', { Cookie: sent })).code).toBe('no-session');
  }
  expect(reached).toEqual([]);
  // A neighbour may have set one of the same name.
  expect((await ask('GET', '/api/project', { Cookie: `a=b; ${name}=forged; ${good}` })).status).toBe(200);
  expect((await send(port, 'GET', '/')).status).toBe(200);
});

test('S8 other methods, preflights and switches of the protocol are refused, and no answer allows another origin', async () => {
  const { port, ask, reached } = await watchedPage();
  const answers = [
    await ask('OPTIONS', '/api/act', { 'Access-Control-Request-Method': 'POST' }),
    await ask('OPTIONS', '/api/act', { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'POST' }),
    await ask('OPTIONS', '*', {}),
    await ask('PUT', '/api/act', {}),
    await ask('GET', '/api/act', {}),
    await ask('GET', '/api/session', {}),
    await ask('POST', '/api/project', {}),
    await ask('POST', '/', {}),
    await ask('DELETE', '/page.js', {}),
    await ask('TRACE', '/', {}),
    await ask('GET', '/api/stream?shift=pages', {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
    }),
    await ask('GET', '/', { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([405, 403, 400, 405, 405, 405, 405, 405, 405, 405, 400, 400]);
  const allowed = await ask('GET', '/api/project', { Origin: `http://127.0.0.1:${port}` });
  const cors = [...answers, allowed]
    .flatMap(({ headers }) => Object.keys(headers))
    .filter((name) => /^access-/.test(name));
  expect(cors).toEqual([]);
  expect(reached).toEqual(['project']);
  expect((await sendBytes(port, `CONNECT evil.example:80 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)).body).toBe('');
});
