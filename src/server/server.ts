import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendError, sendRefusal } from './answers.ts';
import { refuse } from './guard.ts';
import { type PageOptions, Routes } from './routes.ts';
import { Session } from './session.ts';

const HOST = '127.0.0.1';
const HEADERS_WITHIN_MS = 10_000;
const REQUEST_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 5_000;
/** Neither side says anything. The longest answers, the start and the end of a run, take half a minute. */
const SILENCE_MS = 120_000;
const MOST_CONNECTIONS = 256;
const HEADER_BYTES = 32 * 1024;
const CLOSE_WITHIN_MS = 1000;

/** Serves the page on 127.0.0.1, from `listen` until it is disposed of. */
export class PageServer implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;
  readonly #token: string;
  readonly #session: Session;
  readonly #closing: AbortController;

  private constructor(server: Server, options: PageOptions) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    this.#token = options.token;
    this.#session = new Session(options.token, this.port, options.now);
    this.#closing = new AbortController();
    const routes = new Routes({ ...options, session: this.#session, closing: this.#closing.signal });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#answer(routes, request, response).catch((error: unknown) => sendError(response, error, options.warn));
    });
  }

  /** `port`: 0 is any. Throws what the system reports, such as EADDRINUSE. */
  static async listen(port: number, options: PageOptions): Promise<PageServer> {
    const server = createServer({
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      connectionsCheckingInterval: LOOK_EVERY_MS,
      maxHeaderSize: HEADER_BYTES,
    });
    server.maxConnections = MOST_CONNECTIONS;
    server.timeout = SILENCE_MS;
    server.listen(port, HOST);
    await once(server, 'listening');
    return new PageServer(server, options);
  }

  /** With the token in its fragment, which no browser sends to a server. */
  address(shift?: string): string {
    return this.#addressWith(this.#token, shift);
  }

  /** One that works once and soon: for the command line of a browser, which others can read. */
  addressForBrowser(shift?: string): string {
    return this.#addressWith(this.#session.ticket(), shift);
  }

  #addressWith(token: string, shift: string | undefined): string {
    const query = shift === undefined ? '' : `?${new URLSearchParams({ shift })}`;
    return `http://${HOST}:${this.port}/${query}#token=${token}`;
  }

  async #answer(routes: Routes, request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {});
    const head = { target: request.url ?? '', headers: request.headersDistinct };
    const refusal = refuse(head, this.port);
    if (refusal) sendRefusal(response, refusal);
    else await routes.answer(request, response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    this.#server.close();
    this.#server.closeIdleConnections();
    const closed = once(this.#server, 'close');
    setTimeout(() => this.#server.closeAllConnections(), CLOSE_WITHIN_MS).unref();
    await closed;
  }
}
