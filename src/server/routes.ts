import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Page } from '../app/page/page.ts';
import type { ProjectAnswer } from '../core/page/answers.ts';
import { contentPolicy, SAFETY, sendJson, sendRefusal } from './answers.ts';
import { type Refusal, refuseWrite } from './guard.ts';
import { sendStream } from './live-stream.ts';
import { Query } from './query.ts';
import { readBody } from './read-body.ts';
import { READS } from './reads.ts';
import type { Session } from './session.ts';
import type { WebFiles } from './web-files.ts';

/** Seven windows share one; some browsers can't share. */
const MOST_STREAMS = 64;
const API = '/api/';
const SESSION = '/api/session';
const PROJECT = '/api/project';
const STREAM = '/api/stream';
const ACT = '/api/act';
const WRITES = [SESSION, ACT];

export interface PageOptions {
  readonly page: Page;
  readonly files: WebFiles;
  readonly token: string;
  readonly isReadOnly: boolean;
  readonly version: string;
  now(): number;
  /** A line on standard error. */
  warn(line: string): void;
}

interface RouteOptions extends PageOptions {
  readonly session: Session;
  /** The server ends. */
  readonly closing: AbortSignal;
}

/** Answers requests that the guard let through. */
export class Routes {
  readonly #options: RouteOptions;
  #streams = 0;

  constructor(options: RouteOptions) {
    this.#options = options;
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    const refusal = this.#refusalOf(request, path);
    if (refusal) sendRefusal(response, refusal);
    else if (!path.startsWith(API)) this.#sendFile(request, response, path);
    else if (path === SESSION) await this.#openSession(request, response);
    else if (path === ACT) await this.#act(request, response);
    else if (path === STREAM) await this.#stream(request, response, new Query(query));
    else await this.#read(path, new Query(query), response);
  }

  /** In this order: who does not have the cookie learns nothing about what there is. */
  #refusalOf(request: IncomingMessage, path: string): Refusal | undefined {
    const { method = '', headersDistinct: headers } = request;
    const isWrite = WRITES.includes(path);
    const methods = isWrite ? ['POST'] : path.startsWith(API) ? ['GET'] : ['GET', 'HEAD'];
    if (!methods.includes(method)) return badMethod(methods);
    if (path.startsWith(API) && path !== SESSION && !this.#options.session.holds(headers.cookie ?? [])) {
      return NO_SESSION;
    }
    const refusal = isWrite ? refuseWrite({ target: path, headers }) : undefined;
    if (refusal) return refusal;
    if (path === ACT && this.#options.isReadOnly) return READ_ONLY;
    return this.#options.closing.aborted ? CLOSING : undefined;
  }

  #sendFile({ method, headers }: IncomingMessage, response: ServerResponse, path: string): void {
    const { files } = this.#options;
    const file = files.find(path);
    if (!file) {
      sendRefusal(response, NOT_FOUND);
      return;
    }
    const { bytes, type, etag } = file;
    const isKnown = headers['if-none-match'] === etag;
    response.writeHead(isKnown ? 304 : 200, {
      ...SAFETY,
      ...contentPolicy(files.policy(`http://${headers.host}`)),
      'Cache-Control': 'no-cache',
      ETag: etag,
      ...(isKnown ? {} : { 'Content-Type': type, 'Content-Length': bytes.length }),
    });
    response.end(isKnown || method === 'HEAD' ? undefined : bytes);
  }

  async #openSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return;
    if ('refusal' in body) return sendRefusal(response, body.refusal);
    const opened = this.#options.session.open((body.json as { token?: unknown } | null)?.token);
    if (opened === 'wrong') return sendRefusal(response, BAD_TOKEN);
    if (opened === 'too many tries') return sendRefusal(response, TOO_MANY_TRIES);
    sendJson(response, 200, {}, { 'Set-Cookie': opened });
  }

  async #act(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return;
    if ('refusal' in body) return sendRefusal(response, body.refusal);
    // Its parser takes 70 ms to load.
    const { readActRequest } = await import('./act-request.ts');
    sendJson(response, 200, await this.#options.page.act(readActRequest(body.json)));
  }

  async #read(path: string, query: Query, response: ServerResponse): Promise<void> {
    const { page, version, isReadOnly } = this.#options;
    if (path === PROJECT) {
      sendJson(response, 200, { ...(await page.project()), version, isReadOnly } satisfies ProjectAnswer);
      return;
    }
    const read = READS.get(path);
    if (!read) return sendRefusal(response, NOT_FOUND);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    sendJson(response, 200, await read(page, query, gone.signal));
  }

  async #stream({ headers }: IncomingMessage, response: ServerResponse, query: Query): Promise<void> {
    if (this.#streams >= MOST_STREAMS) return sendRefusal(response, TOO_MANY_STREAMS);
    const { page, closing } = this.#options;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const last = headers['last-event-id'];
    const after = (Array.isArray(last) ? last[0] : last) || query.optional('after');
    const messages = page.stream(query.params.getAll('shift'), after, AbortSignal.any([gone.signal, closing]));
    this.#streams++;
    try {
      await sendStream(response, messages);
    } finally {
      this.#streams--;
    }
  }
}

function badMethod(methods: readonly string[]): Refusal {
  const list = methods.join(', ');
  return { status: 405, code: 'bad-method', message: `use ${list}`, headers: { Allow: list } };
}

const NOT_FOUND: Refusal = { status: 404, code: 'not-found', message: 'there is nothing at this address' };
const NO_SESSION: Refusal = {
  status: 401,
  code: 'no-session',
  message: 'this browser has no session',
  hint: 'open the address that `nightshift view` printed, with its token',
};
const BAD_TOKEN: Refusal = {
  status: 401,
  code: 'bad-token',
  message: 'the token is wrong or used up',
  hint: 'open the address that `nightshift view` printed last',
};
const TOO_MANY_TRIES: Refusal = {
  status: 429,
  code: 'too-many-tries',
  message: 'too many wrong tokens',
  hint: 'try again in a minute',
  headers: { 'Retry-After': '60' },
};
const READ_ONLY: Refusal = {
  status: 403,
  code: 'read-only',
  message: 'this page only shows: it was started with --read-only',
};
const TOO_MANY_STREAMS: Refusal = {
  status: 503,
  code: 'too-many-streams',
  message: 'too many windows follow this page',
  hint: 'close some of them',
  headers: { 'Retry-After': '10' },
};
const CLOSING: Refusal = { status: 503, code: 'closing', message: 'the page is being ended' };
