import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Page } from '../../src/app/page/page.ts';
import type { PageOptions } from '../../src/server/routes.ts';
import { PageServer } from '../../src/server/server.ts';
import { WebFiles } from '../../src/server/web-files.ts';

export const TOKEN = 'the-token-of-the-tests';

/** A page that knows nothing; tests give it what they ask for. */
export function pageWith(methods: Partial<Page> = {}): Page {
  const none = async (): Promise<never> => {
    throw new Error('this test has no such answer');
  };
  return {
    project: async () => ({ root: '/project', shifts: [] }),
    ...{ shift: none, rows: none, item: none, diff: none, transcript: none, entry: none, find: none },
    ...{ steps: none, stepsDiff: none, charts: none, journal: none },
    act: async () => ({ command: 'nightshift pause pages', effect: 'paused' }),
    stream: () => ({ [Symbol.asyncIterator]: () => ({ next: none }) }),
    [Symbol.asyncDispose]: async () => {},
    ...methods,
  };
}

export interface ServedPage {
  readonly server: PageServer;
  readonly port: number;
  /** What was written to standard error. */
  readonly warnings: string[];
  /** The cookie of a session. */
  cookie(): Promise<string>;
}

/** Serves a page with files of its own, until the test ends. */
export async function servePage(page: Page = pageWith(), options: Partial<PageOptions> = {}): Promise<ServedPage> {
  const folder = mkdtempSync(join(tmpdir(), 'nightshift-web-'));
  mkdirSync(join(folder, 'web'));
  writeFileSync(join(folder, 'secret.js'), 'not of the page');
  writeFileSync(join(folder, 'web', 'index.html'), '<!doctype html><script src="/page.js"></script>');
  writeFileSync(join(folder, 'web', 'page.js'), 'true;');
  writeFileSync(join(folder, 'web', 'page.css'), 'body {}');
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const fixed = { page, files: await WebFiles.read(join(folder, 'web')), token: TOKEN, version: '1.2.3' };
  const server = await PageServer.listen(0, { ...fixed, isReadOnly: false, now: Date.now, warn, ...options });
  const isOpen = { value: true };
  onTestFinished(async () => {
    if (isOpen.value) await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    server,
    port: server.port,
    warnings,
    cookie: async () => {
      const { headers } = await send(server.port, 'POST', '/api/session', {
        headers: WRITE_HEADERS,
        body: JSON.stringify({ token: TOKEN }),
      });
      return headers['set-cookie']!.split(';')[0]!;
    },
  };
}

export const WRITE_HEADERS = { 'Content-Type': 'application/json', 'X-Nightshift': 'page' };

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of an `ErrorAnswer`. */
  readonly code?: string;
}

interface RawRequest {
  /** Over those of a browser that asks for a file of the page; undefined leaves one out, a list sends it more than once. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string;
}

/** Sends a request byte for byte, as no client library would, and reads the answer until the server closes. */
export function send(port: number, method: string, target: string, request: RawRequest = {}): Promise<RawAnswer> {
  const { headers = {}, body } = request;
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const all = { Host: `127.0.0.1:${port}`, Connection: 'close', ...length, ...headers };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((each) => `${name}: ${each}`),
  );
  return sendBytes(port, `${[`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body ?? ''}`);
}

export function sendBytes(port: number, text: string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (piece) => pieces.push(piece));
    socket.on('error', reject);
    socket.on('close', () => resolve(parseAnswer(Buffer.concat(pieces).toString())));
  });
}

function parseAnswer(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const body = end < 0 ? '' : text.slice(end + 4);
  const status = Number(first.split(' ')[1] ?? 0);
  const code = body.startsWith('{"error"') ? { code: JSON.parse(body).error.code } : {};
  return { status, headers, body, ...code };
}
