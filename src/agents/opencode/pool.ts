import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble } from '../../core/model/model.ts';
import { OpencodeServer, type WantedServer } from './server.ts';
import type { ServerPool } from './session.ts';

/**
 * A server grows by about 15 MB with every session, twice as much in a folder of its own, and never shrinks. So a new
 * one takes over after this many sessions; one in a folder of its own counts twice.
 */
const MOST_WEAR = 30;
const LATER_MS = 600;
/** A server without a session is stopped after this time: a worker of a fleet may have served many shifts. */
const IDLE_MS = 5 * 60_000;

/** The servers of a run, one for each environment. */
export class OpencodePool implements ServerPool, AsyncDisposable {
  readonly knownServers = new Set<string>();
  readonly #current = new Map<string, Promise<OpencodeServer | Trouble>>();
  readonly #servers = new Set<OpencodeServer>();
  readonly #later = new Set<Promise<void>>();
  readonly #end = new AbortController();
  readonly #stop = new AbortController();
  readonly #idleMs: number;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
    // Each session that just ended, and each server that was started, adds one listener.
    setMaxListeners(0, this.#end.signal, this.#stop.signal);
  }

  async take(wanted: WantedServer): Promise<OpencodeServer | Trouble> {
    const { environment, root, folder } = wanted;
    if (wanted.sandbox !== undefined) return this.#takePrivate(wanted);
    const key = JSON.stringify(environment);
    for (;;) {
      const current = this.#current.get(key) ?? this.#start(wanted);
      this.#current.set(key, current);
      const server = await current;
      if (!('reason' in server) && server.isAlive && server.wear < MOST_WEAR) {
        server.wear += folder === root ? 1 : 2;
        server.open++;
        return server;
      }
      if (this.#current.get(key) === current) this.#current.delete(key);
      if ('reason' in server) return server;
    }
  }

  async #takePrivate(wanted: WantedServer): Promise<OpencodeServer | Trouble> {
    const server = await this.#start(wanted);
    if (!('reason' in server)) server.open++;
    return server;
  }

  async #start({ environment, ...wanted }: WantedServer): Promise<OpencodeServer | Trouble> {
    // This mark finds everything that the server started when it is stopped: its shells are in groups of their own.
    const mark = { NIGHTSHIFT_KEY: `${environment.NIGHTSHIFT_KEY}-${randomBytes(8).toString('hex')}` };
    const { knownServers } = this;
    const { signal } = this.#stop;
    const server = await OpencodeServer.start({
      ...wanted,
      environment: { ...environment, ...mark },
      knownServers,
      signal,
    });
    if (!('reason' in server)) this.#servers.add(server);
    return server;
  }

  /** A server that took its last session is stopped after that. */
  async release(server: OpencodeServer): Promise<void> {
    server.open--;
    if (server.open > 0) return;
    const mayBeUsed = server.isAlive && server.wear < MOST_WEAR && !server.isPrivate;
    if (!mayBeUsed) await this.#retire(server);
    else void this.#retireIfIdle(server);
  }

  async #retireIfIdle(server: OpencodeServer): Promise<void> {
    const { wear } = server;
    await delay(this.#idleMs, undefined, { signal: this.#end.signal, ref: false }).catch(() => {});
    // Each session wears it.
    if (server.wear === wear && server.open === 0) await this.#retire(server);
  }

  async #retire(server: OpencodeServer): Promise<void> {
    server.wear = MOST_WEAR;
    await server[Symbol.asyncDispose]();
    this.#servers.delete(server);
    // Its environment would stay in memory.
    for (const [key, started] of this.#current)
      void started.then((each) => each === server && this.#current.get(key) === started && this.#current.delete(key));
  }

  /** Runs once the server has begun the next item: it does one thing at a time. */
  later(work: () => Promise<void>): void {
    const done = delay(LATER_MS, undefined, { signal: this.#end.signal })
      .catch(() => {})
      .then(work)
      // If the server does not do it, nothing else can.
      .catch(() => {});
    this.#later.add(done);
    void done.finally(() => this.#later.delete(done));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await Promise.all(this.#later);
    this.#stop.abort();
    await Promise.all(this.#current.values());
    await Promise.all([...this.#servers].map((server) => server[Symbol.asyncDispose]()));
  }
}
