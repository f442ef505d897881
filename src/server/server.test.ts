import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { pageWith, send, sendBytes, servePage, TOKEN, WRITE_HEADERS } from '../../test/kit/served-page.ts';
import { NightshiftError } from '../core/model/errors.ts';

const openWith = (port: number, token: unknown) =>
  send(port, 'POST', '/api/session', { headers: WRITE_HEADERS, body: JSON.stringify({ token }) });

const actWith = (port: number, cookie: string, body: string) =>
  send(port, 'POST', '/api/act', { headers: { ...WRITE_HEADERS, Cookie: cookie }, body });

test('S8 the token is exchanged for a cookie that no script can read and no other site sends', async () => {
  const { port, server } = await servePage();
  expect(server.address()).toBe(`http://127.0.0.1:${port}/#token=${TOKEN}`);
  const { status, headers } = await openWith(port, TOKEN);
  expect(status).toBe(200);
  const [pair, ...attributes] = headers['set-cookie']!.split('; ');
  expect(pair).toMatch(new RegExp(`^nightshift-${port}=[\\w-]{43}$`));
  expect(pair).not.toContain(TOKEN);
  expect(attributes).toEqual(['Path=/', 'HttpOnly', 'SameSite=Strict']);
});

test('S8 wrong tokens open nothing, and after ten of them no token does for a minute', async () => {
  let now = 0;
  const { port } = await servePage(pageWith(), { now: () => now });
  for (const token of [
    '',
    TOKEN.slice(1),
    `${TOKEN}x`,
    null,
    [TOKEN],
    { token: TOKEN },
    1,
    true,
    undefined,
    'x'.repeat(99_999),
  ]) {
    const { status, code, headers } = await openWith(port, token);
    expect([status, code, headers['set-cookie']]).toEqual([401, 'bad-token', undefined]);
  }
  expect((await openWith(port, TOKEN)).code).toBe('too-many-tries');
  now += 60_000;
  expect((await openWith(port, TOKEN)).status).toBe(200);
});

test('S8 what a browser gets on its command line works once, and for a minute', async () => {
  let now = 0;
  const { port, server } = await servePage(pageWith(), { now: () => now });
  const ticketIn = (address: string) => /#token=(.+)$/.exec(address)![1]!;
  const ticket = ticketIn(server.addressForBrowser());
  expect(ticket).not.toContain(TOKEN);
  expect((await openWith(port, ticket)).status).toBe(200);
  expect((await openWith(port, ticket)).code).toBe('bad-token');
  const late = ticketIn(server.addressForBrowser());
  now += 60_001;
  expect((await openWith(port, late)).code).toBe('bad-token');
});

test('S8 read-only: everything can be read and nothing done', async () => {
  const { port, cookie } = await servePage(pageWith(), { isReadOnly: true });
  const sent = await cookie();
  const { status, code } = await actWith(port, sent, '{"shift":"pages","action":{"verb":"pause"}}');
  expect([status, code]).toEqual([403, 'read-only']);
  const project = await send(port, 'GET', '/api/project', { headers: { Cookie: sent } });
  expect(JSON.parse(project.body)).toEqual({ root: '/project', shifts: [], version: '1.2.3', isReadOnly: true });
});

test('S8 no answer can be framed, sniffed, kept or led out of, and the page loads only its own files', async () => {
  const { port, cookie } = await servePage();
  const page = await send(port, 'GET', '/', { headers: { Host: `localhost:${port}` } });
  const own = `http://localhost:${port}`;
  expect(page.headers['content-security-policy']!.split('; ').sort()).toEqual([
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    'img-src data:',
    "require-trusted-types-for 'script'",
    `script-src ${own}/page.js`,
    `style-src ${own}/page.css`,
    'trusted-types default',
    `worker-src ${own}/page.js`,
  ]);
  const read = await send(port, 'GET', '/api/project', { headers: { Cookie: await cookie() } });
  const refused = await send(port, 'GET', '/api/project', { headers: { Host: 'evil.example' } });
  const missing = await send(port, 'GET', '/nothing');
  for (const { headers } of [page, read, refused, missing]) {
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'.*frame-ancestors 'none'/);
  }
  for (const { headers } of [read, refused, missing]) {
    expect([headers['cache-control'], headers['content-type']]).toEqual([
      'no-store',
      'application/json; charset=utf-8',
    ]);
  }
});

test('S8 no path leads out of the page', async () => {
  const { port } = await servePage();
  const paths = [
    '/../secret.js',
    '/..%2fsecret.js',
    '/%2e%2e/secret.js',
    '/..\\secret.js',
    '/./page.js',
    '//page.js',
    '/page.js/',
    '/page.js%00',
    '/page.js/../page.js',
    '/index.html/../../secret.js',
    '/etc/passwd',
    '/..',
    '/toString',
    '/__proto__',
    '/api/../page.js',
  ];
  for (const path of paths) {
    const { status, body } = await send(port, 'GET', path);
    expect([404, 401], path).toContain(status);
    expect(body).not.toContain('not of the page');
  }
  expect((await send(port, 'GET', '/page.js?v=1')).body).toBe('true;');
  expect((await send(port, 'HEAD', '/page.js')).headers['content-length']).toBe('5');
  const { etag } = (await send(port, 'GET', '/page.js')).headers;
  const again = await send(port, 'GET', '/page.js', { headers: { 'If-None-Match': etag! } });
  expect([again.status, again.body]).toEqual([304, '']);
});

test('S8 an action with a key or a value that is not known is not done', async () => {
  const done: unknown[] = [];
  const page = pageWith({
    act: async (request) => {
      done.push(request);
      return { command: '', effect: '' };
    },
  });
  const { port, cookie } = await servePage(page);
  const sent = await cookie();
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '{"shift":"pages"}',
    '{"shift":"pages","action":{"verb":"rm"}}',
    '{"shift":1,"action":{"verb":"pause"}}',
    '{"shift":"pages","action":{"verb":"reset"}}',
    '{"shift":"pages","action":{"verb":"reset","rows":{"items":[]}}}',
    '{"shift":"pages","action":{"verb":"reset","rows":{}}}',
    '{"shift":"pages","action":{"verb":"reset","rows":{"items":["a"],"matching":{}}}}',
    '{"shift":"pages","action":{"verb":"pause"},"dry":true}',
    '{"shift":"pages","action":{"verb":"retry","row":3}}',
  ];
  for (const body of bodies) expect((await actWith(port, sent, body)).status, body).toBe(400);
  expect(done).toEqual([]);
  const good = { shift: 'pages', action: { verb: 'reset', rows: { items: ['a'] }, task: 'work' }, isDry: true };
  expect((await actWith(port, sent, JSON.stringify(good))).status).toBe(200);
  expect(done).toEqual([good]);
});

test('S8 S13 bodies and headers are bounded', async () => {
  const { port, cookie } = await servePage();
  const sent = await cookie();
  const { status, code } = await actWith(port, sent, JSON.stringify('x'.repeat(5 * 1024 * 1024)));
  expect([status, code]).toEqual([413, 'too-large']);
  const head = `POST /api/act HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\nCookie: ${sent}\r\n`;
  const write = 'Content-Type: application/json\r\nX-Nightshift: page\r\n';
  const piece = `100000\r\n${'x'.repeat(0x100000)}\r\n`;
  const inPieces = await sendBytes(
    port,
    `${head}${write}Transfer-Encoding: chunked\r\n\r\n${piece.repeat(5)}0\r\n\r\n`,
  );
  expect(inPieces.status).toBe(413);
  expect((await send(port, 'GET', `/?${'x'.repeat(40_000)}`)).status).toBe(431);
  expect((await send(port, 'GET', '/')).status).toBe(200);
});

test('S8 an error is the answer to its own request; a bug is shown, and the next request is answered', async () => {
  const missing = Object.assign(new Error('ENOENT'), { code: 'ENOENT', path: '/project/table.csv' });
  const errors: Record<string, unknown> = {
    gone: new NightshiftError('not-found', 'there is no shift gone', 'there are: pages'),
    torn: new NightshiftError('bad-table', 'a quote is open', undefined, { file: 'table.csv', line: 7 }),
    moved: missing,
    many: Object.assign(new Error('EMFILE'), { code: 'EMFILE', syscall: 'open' }),
    odd: new TypeError('undefined is not a function'),
  };
  const { port, cookie, warnings } = await servePage(
    pageWith({
      shift: async (id) => {
        throw errors[id];
      },
    }),
  );
  const sent = await cookie();
  const ask = async (shift: string) => {
    const answer = await send(port, 'GET', `/api/shift?shift=${shift}`, { headers: { Cookie: sent } });
    return [answer.status, JSON.parse(answer.body).error];
  };
  const told = { code: 'not-found', message: 'there is no shift gone', hint: 'there are: pages' };
  expect(await ask('gone')).toEqual([404, told]);
  expect(await ask('torn')).toEqual([422, { code: 'bad-table', message: 'a quote is open (table.csv line 7)' }]);
  expect(await ask('moved')).toMatchObject([404, { code: 'not-found' }]);
  expect(await ask('many')).toMatchObject([503, { code: 'resources' }]);
  expect(warnings).toEqual([]);
  expect(await ask('odd')).toEqual([
    500,
    { code: 'bug', message: 'this is a bug in Nightshift: undefined is not a function' },
  ]);
  expect(warnings.join()).toContain('TypeError: undefined is not a function\n    at ');
  expect((await send(port, 'GET', '/api/shift', { headers: { Cookie: sent } })).status).toBe(400);
  expect((await send(port, 'GET', '/api/project', { headers: { Cookie: sent } })).status).toBe(200);
});

test('S8 requests are bound to this machine: no other address of it answers', async () => {
  const { port } = await servePage();
  const reach = (host: string) =>
    new Promise<string>((resolve) => {
      const socket = connect(port, host, () => resolve('connected'));
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('connect', () => socket.destroy());
    });
  expect(await reach('127.0.0.1')).toBe('connected');
  expect(await reach('127.0.0.2')).not.toBe('connected');
  expect(await reach('::1')).not.toBe('connected');
});
