import type { Client, ClientConfig, QueryResult, QueryResultRow } from 'pg';
import { CHANNEL, channelOf, type NoticeKind } from './protocol.ts';

/** After this, the connection counts as lost: a network that drops packets reports no error. */
const ANSWER_MS = 10_000;

type Listener = (kind: NoticeKind, subject: string) => void;

/**
 * One connection to the database, made again when it breaks. Queries and notices share it, so that a worker needs one:
 * 50 workers fit into the default of 100.
 */
export class Connection implements AsyncDisposable {
  readonly #config: ClientConfig;
  #client: Client | undefined;
  #connecting: Promise<Client> | undefined;
  #opening: Client | undefined;
  #listener: Listener | undefined;
  #channels: readonly string[] = [];
  #wasConnected = false;
  #isClosed = false;

  constructor(config: ClientConfig) {
    this.#config = {
      ...config,
      connectionTimeoutMillis: ANSWER_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'nightshift',
    };
  }

  async query<T extends QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<QueryResult<T>> {
    return this.#ask(await this.#connected(), text, values);
  }

  /** A handle for one transaction. It never reconnects: a new connection would run only the rest of the transaction. */
  async pinned(): Promise<{ query: Connection['query'] }> {
    const client = await this.#connected();
    return {
      query: async (text, values = []) => {
        if (this.#client !== client) throw new Error('connection ended');
        return this.#ask(client, text, values);
      },
    };
  }

  async #ask<T extends QueryResultRow>(
    client: Client,
    text: string,
    values: readonly unknown[],
  ): Promise<QueryResult<T>> {
    try {
      // Without values, the text may have several statements.
      return await (values.length === 0 ? client.query<T>(text) : client.query<T>(text, [...values]));
    } catch (error) {
      // An error with a SQLSTATE means that the connection works, unless it is now inside a failed transaction.
      const isAnswer = /^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '');
      if (!isAnswer || /^\s*begin\b/i.test(text)) this.#drop(client);
      throw error;
    }
  }

  /** Listens now and after each reconnect. A reconnect also reports `changed`, because notices may have been missed. */
  async listen(channels: readonly string[], listener: Listener): Promise<void> {
    this.#listener = listener;
    this.#channels = channels;
    await this.query(listenTo(channels));
  }

  /** `ended` is for the coordinator of a shift, which is its subject. */
  async notify(kind: NoticeKind, subjects: readonly string[]): Promise<void> {
    const notices = subjects.map((subject) => `${kind}:${subject}`);
    const channels = subjects.map((subject) => (kind === 'ended' ? channelOf(subject) : CHANNEL));
    await this.query(
      'select pg_notify(channel, notice) from unnest($1::text[], $2::text[]) as told (channel, notice)',
      [channels, notices],
    );
  }

  async #connected(): Promise<Client> {
    if (this.#isClosed) throw new Error('connection ended');
    if (this.#client) return this.#client;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Client> {
    // Only a fleet needs it.
    const { default: pg } = await import('pg');
    const client = new pg.Client(this.#config);
    this.#opening = client;
    client.on('error', () => this.#drop(client));
    client.on('end', () => this.#drop(client));
    client.on('notification', ({ payload = '' }) => {
      const [kind, ...rest] = payload.split(':');
      this.#listener?.(kind as NoticeKind, rest.join(':'));
    });
    try {
      await client.connect().catch((error: unknown) => {
        throw this.#wasConnected ? asOutage(error) : error;
      });
      this.#wasConnected = true;
      // Dates are read in this form only; a database may have another default.
      await client.query('set datestyle to iso');
      if (this.#listener) await client.query(listenTo(this.#channels));
    } catch (error) {
      // A standby lets it in, and refuses to listen.
      this.#drop(client);
      throw error;
    }
    this.#client = client;
    this.#listener?.('changed', '');
    return client;
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined;
    // A clean close could wait forever for the server.
    (client as Client & { connection?: { stream?: { destroy(): void } } }).connection?.stream?.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // It might take as long as an answer may take.
    if (this.#opening && this.#opening !== this.#client) this.#drop(this.#opening);
    const client = this.#client ?? (await this.#connecting?.catch(() => undefined));
    this.#client = undefined;
    await Promise.race([client?.end(), new Promise((resolve) => setTimeout(resolve, 1000).unref())]).catch(() => {});
    if (client) this.#drop(client);
  }
}

/**
 * Treats a refused connection as an outage if an earlier one worked: `fleet init` may have set new passwords, or someone
 * restores the database, which does not exist or accepts no connections meanwhile.
 */
function asOutage(error: unknown): unknown {
  const isRefused = error instanceof Error && /^(28|3D000|55000)/.test((error as { code?: string }).code ?? '');
  return isRefused ? Object.assign(error, { code: '08004' }) : error;
}

function listenTo(channels: readonly string[]): string {
  return channels.map((channel) => `listen "${channel}"`).join('; ');
}
