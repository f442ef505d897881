import { connect, createServer, type Server, type Socket } from 'node:net';

type Mode = 'pass' | 'drop' | 'refuse';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

/**
 * A TCP proxy on loopback that fails as networks do. `drop` swallows every byte in both directions and closes nothing,
 * so both ends believe that they are connected; what was swallowed is lost, as behind a router that was unplugged.
 */
export class CutProxy implements AsyncDisposable {
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #target: number;
  #mode: Mode = 'pass';

  private constructor(target: number) {
    this.#target = target;
    // Half-open: an end that closes while bytes are dropped must not be heard of by the other.
    this.#listener = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async open(target: number): Promise<CutProxy> {
    const proxy = new CutProxy(target);
    await new Promise<void>((resolve, reject) => {
      proxy.#listener.on('error', reject).listen({ host: '127.0.0.1', port: 0 }, resolve);
    });
    return proxy;
  }

  get port(): number {
    const address = this.#listener.address();
    if (typeof address !== 'object' || address === null) throw new Error('the proxy is closed');
    return address.port;
  }

  /** The same URL through the proxy. */
  urlOf(url: string): string {
    return Object.assign(new URL(url), { port: String(this.port) }).href;
  }

  /** Connections that are open, as far as one of their ends knows. */
  get links(): number {
    return this.#links.size;
  }

  /** Swallows everything from now on, also of new connections, which are accepted and never answered. */
  drop(): void {
    this.#mode = 'drop';
  }

  /** Closes all connections and each new one at once. */
  refuse(): void {
    this.#mode = 'refuse';
    this.#closeAll();
  }

  /**
   * Works again. Connections that lost bytes are reset: a network that comes back resends or resets, and never goes on
   * with a gap.
   */
  resume(): void {
    if (this.#mode === 'drop') this.#closeAll();
    this.#mode = 'pass';
  }

  /** Where new connections go: a fail over. */
  retarget(port: number): void {
    this.#target = port;
  }

  async close(): Promise<void> {
    this.#closeAll();
    await new Promise<void>((resolve) => this.#listener.close(() => resolve()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') {
      client.on('error', () => {}).resetAndDestroy();
      return;
    }
    const server = connect({ host: '127.0.0.1', port: this.#target, allowHalfOpen: true });
    const link = { client, server };
    this.#links.add(link);
    this.#forward(link, client, server);
    this.#forward(link, server, client);
  }

  #forward(link: Link, from: Socket, to: Socket): void {
    from.setNoDelay(true);
    from.on('data', (bytes) => {
      if (this.#mode !== 'pass' || to.destroyed || to.write(bytes)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('end', () => {
      if (this.#mode === 'pass') to.end();
    });
    from.on('error', () => {});
    from.on('close', () => {
      if (this.#mode === 'drop') return;
      this.#links.delete(link);
      to.destroySoon();
    });
  }

  #closeAll(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    this.#links.clear();
  }
}
