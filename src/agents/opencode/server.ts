import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpencodeClient } from '@opencode-ai/sdk/v2/client';
import type { Trouble } from '../../core/model/model.ts';
import type { Mask } from '../../core/text/mask.ts';
import type { Sandbox } from '../../core/workspace/sandbox.ts';
import { endMarked } from '../process/leftovers.ts';
import { howItEnded, type ProcessResult, runProcess } from '../process/process.ts';
import { markIn } from '../process/process-tag.ts';
import { configContent, mergeContent } from './config.ts';
import { Door } from './door.ts';
import type { ServerEvent } from './events.ts';
import { Folders } from './folders.ts';

const KEEP_BYTES = 64 * 1024;
/** It takes 2 seconds, more on a busy machine. */
const START_MS = 90_000;
const USER = 'nightshift';

export interface WantedServer {
  /** The folder that holds `.nightshift`. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the first session. */
  readonly folder: string;
  readonly mask: Mask;
  /** Then the server is for this session alone. */
  readonly sandbox?: Sandbox | undefined;
}

export interface ServerRequest extends WantedServer {
  /** Known MCP servers of the user's configuration. */
  readonly knownServers: ReadonlySet<string>;
  /** Stops the server, even while it starts. */
  readonly signal: AbortSignal;
}

/** A session that waits for an answer. */
export interface Hearer {
  /** `isOwn`: of the session itself, and not of one of its children. */
  hear(event: ServerEvent, isOwn: boolean): void;
  /** Events may have been missed. */
  missed(): void;
  /** The server ended, for this reason. */
  gone(how: string): void;
}

/** One `opencode serve` on loopback. It does not throw for what the program does. */
export class OpencodeServer implements AsyncDisposable {
  readonly client: OpencodeClient;
  readonly folders: Folders;
  readonly door = new Door();
  /** Why it is gone, once it is. */
  readonly ended: Promise<string>;
  isAlive = true;
  /** For one session: it ends with it. */
  readonly isPrivate: boolean;
  /** Its use so far, and how many sessions are open. */
  wear = 0;
  open = 0;
  readonly #stop: AbortController;
  readonly #hearers = new Map<string, Hearer>();
  #isListening = false;
  /** The parent of a child session. */
  readonly #parents = new Map<string, string>();

  private constructor(
    client: OpencodeClient,
    request: ServerRequest,
    process: Promise<ProcessResult>,
    stop: AbortController,
  ) {
    this.client = client;
    this.folders = new Folders(client, request.root);
    this.#stop = stop;
    this.isPrivate = request.sandbox !== undefined;
    this.ended = process.then(async (ended) => {
      this.isAlive = false;
      // Its shells are in groups of their own, and would keep working on items that are given back now.
      if (ended.kind !== 'aborted') await endShells(request);
      const how = ended.kind === 'aborted' ? 'it was stopped' : howItEnded(ended);
      for (const hearer of this.#hearers.values()) hearer.gone(how);
      return how;
    });
    void this.#listen();
  }

  /** The user's MCP servers all start on first use, so they are disabled, and the named ones get connected. */
  static async start(request: ServerRequest): Promise<OpencodeServer | Trouble> {
    const disabled = new Set(request.knownServers);
    for (;;) {
      const server = await OpencodeServer.#boot(request, disabled);
      if ('reason' in server) return server;
      const enabled = await server.folders.enabledServers(request.folder).catch((error: Error) => error);
      const isGone = enabled instanceof Error;
      if (!isGone && enabled.every((name) => disabled.has(name))) return server;
      await server[Symbol.asyncDispose]();
      if (isGone) return { reason: `opencode serve: ${enabled.message}` };
      for (const name of enabled) disabled.add(name);
    }
  }

  static async #boot(request: ServerRequest, disabled: ReadonlySet<string>): Promise<OpencodeServer | Trouble> {
    const password = randomBytes(24).toString('base64url');
    const stop = new AbortController();
    // Every event connection also listens, even after it broke off.
    setMaxListeners(0, stop.signal);
    if (request.signal.aborted) stop.abort();
    request.signal.addEventListener('abort', () => stop.abort(), { once: true });
    let heard: (url: string) => void = () => {};
    const listening = new Promise<string>((resolve) => {
      heard = resolve;
    });
    let printed = '';
    const process = runProcess({
      file: 'opencode',
      args: ['serve', '--hostname', '127.0.0.1', '--port', '0'],
      cwd: request.root,
      env: {
        ...request.environment,
        OPENCODE_CONFIG_CONTENT: mergeContent(request.environment.OPENCODE_CONFIG_CONTENT, configContent(disabled)),
        OPENCODE_SERVER_USERNAME: USER,
        OPENCODE_SERVER_PASSWORD: password,
      },
      signal: stop.signal,
      keepBytes: KEEP_BYTES,
      mask: request.mask,
      sandbox: request.sandbox,
      onOutput(stream, text) {
        if (stream !== 'stdout') return;
        printed = (printed + text).slice(-KEEP_BYTES);
        const url = /listening on (http:\/\/[\w.:[\]-]+)/.exec(printed)?.[1];
        if (url !== undefined) heard(url);
      },
    });
    const { createOpencodeClient } = await import('@opencode-ai/sdk/v2/client');
    const slow = delay(START_MS, undefined, { ref: false });
    const first = await Promise.race([listening, process, slow]);
    if (typeof first === 'string') {
      const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`;
      const client = createOpencodeClient({ baseUrl: first, headers: { authorization } });
      return new OpencodeServer(client, request, process, stop);
    }
    stop.abort();
    const ended = await process;
    const how = ended.kind === 'aborted' ? `it did not listen within ${START_MS / 1000} s` : howItEnded(ended);
    return { reason: `opencode serve: ${how}` };
  }

  hear(session: string, hearer: Hearer): void {
    this.#hearers.set(session, hearer);
    if (!this.#isListening) hearer.missed();
  }

  forget(session: string): void {
    this.#hearers.delete(session);
    for (const [child, parent] of this.#parents) if (parent === session) this.#parents.delete(child);
  }

  /** The stream reconnects when it breaks off. Waiting sessions look up what was missed. */
  async #listen(): Promise<void> {
    while (this.isAlive && !this.#stop.signal.aborted) {
      try {
        const { stream } = await this.client.global.event({ signal: this.#stop.signal, sseMaxRetryAttempts: 1 });
        for await (const { payload } of stream) this.#pass(payload);
      } catch {
        // The server is gone, or the stream reconnects.
      }
      this.#isListening = false;
      for (const hearer of this.#hearers.values()) hearer.missed();
      await Promise.race([this.ended, delay(200)]);
    }
  }

  #pass(event: ServerEvent): void {
    if (event.type === 'server.connected') this.#isListening = true;
    if (!('properties' in event)) return;
    if (event.type === 'session.created') {
      const { id, parentID } = event.properties.info;
      const root = parentID === undefined ? undefined : (this.#parents.get(parentID) ?? parentID);
      if (root !== undefined && this.#hearers.has(root)) this.#parents.set(id, root);
    }
    const { sessionID } = event.properties as { sessionID?: string };
    if (sessionID === undefined) return;
    const own = this.#hearers.get(sessionID);
    if (own) own.hear(event, true);
    else this.#hearers.get(this.#parents.get(sessionID) ?? '')?.hear(event, false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }
}

async function endShells({ environment }: ServerRequest): Promise<void> {
  const { NIGHTSHIFT_KEY: key } = environment;
  const shiftFolder = markIn(environment);
  if (shiftFolder !== undefined && key !== undefined) await endMarked({ shiftFolder, key });
}
