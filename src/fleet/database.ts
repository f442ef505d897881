import type { ClientConfig, QueryResultRow } from 'pg';
import type { PgBoss } from 'pg-boss';
import { NightshiftError } from '../core/model/errors.ts';
import { Connection } from './connection.ts';
import { describeFailure, isQueueMissing, isSchemaMissing, isTransient } from './failure.ts';
import type { NoticeKind } from './protocol.ts';
import { createTables, SCHEMA } from './schema.ts';

export interface Queryable {
  query<T extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<{ rows: T[] }>;
}

/** What functions of pg-boss take as `db`. */
export interface BossDatabase {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Allows a connection over the network without verified TLS. */
  readonly isInsecure: boolean;
}

const BEGIN = [
  'begin',
  'set local synchronous_commit = off',
  "set local lock_timeout = '8s'",
  "set local idle_in_transaction_session_timeout = '15s'",
].join('; ');

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2000;
/** A network that drops packets would keep the last transaction for much longer. */
const LAST_WRITE_MS = 3000;

/**
 * The database of a fleet: pg-boss holds the orders, tables of our own the rest. Nothing here is retried, except by
 * `untilAnswered`.
 */
export class FleetDatabase implements Queryable, AsyncDisposable {
  readonly #reading: Connection;
  /** For transactions, one after the other; made when it is first needed. */
  readonly #writing: Connection;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #boss: PgBoss | undefined;
  #isClosed = false;

  constructor({ url, isInsecure }: DatabaseOptions) {
    const config = readUrl(url, isInsecure);
    this.#reading = new Connection(config);
    this.#writing = new Connection(config);
  }

  /** Creates what is missing. Only a coordinator may. */
  async install(): Promise<void> {
    await this.#start(true);
    await createTables(this);
  }

  /** Throws if the schema is missing. */
  async join(): Promise<void> {
    await this.#start(false);
  }

  get boss(): PgBoss {
    if (!this.#boss) throw new Error('the database is not open');
    return this.#boss;
  }

  query<T extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<{ rows: T[] }> {
    return this.#reading.query<T>(text, values);
  }

  listen(channels: readonly string[], listener: (kind: NoticeKind, subject: string) => void): Promise<void> {
    return this.#reading.listen(channels, listener);
  }

  notify(kind: NoticeKind, ...subjects: readonly string[]): Promise<void> {
    return this.#reading.notify(kind, subjects);
  }

  /**
   * One transaction at a time. `use` gets it, also in the form that pg-boss takes. Commits don't wait for the disk: a
   * coordinator notices what a crash of the server has undone, resends orders that are gone and removes those that have
   * reappeared. What a worker writes about an order is durable, and so is everything before it. The server ends what a
   * machine that vanished has left open, so that its locks don't keep others out.
   */
  transaction<T>(use: (own: Queryable, db: BossDatabase) => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      if (this.#isClosed) throw new Error('connection ended');
      const own = await this.#writing.pinned();
      await own.query(BEGIN);
      try {
        const result = await use(own, { executeSql: (text, values) => own.query(text, values) });
        await own.query('commit');
        return result;
      } catch (error) {
        await own.query('rollback').catch(() => {});
        throw error;
      }
    };
    const done = this.#lastWrite.then(run);
    this.#lastWrite = done.catch(() => {});
    return done;
  }

  async #start(mayInstall: boolean): Promise<void> {
    const { PgBoss } = await loadBoss();
    const boss = new PgBoss({
      db: { executeSql: (text: string, values?: unknown[]) => this.#reading.query(text, values) },
      schema: SCHEMA,
      migrate: mayInstall,
      createSchema: mayInstall,
      // The coordinator decides when a lease ends; nothing else may happen by itself.
      supervise: false,
      schedule: false,
      monitorIntervalSeconds: 1,
      monitorVacuum: false,
      reindex: false,
      persistWarnings: false,
    });
    // Without a listener, its warnings and errors would end the process. Each call reports its own.
    boss.on('error', () => {});
    boss.on('warning', () => {});
    await boss.start().catch(async (error: Error & { code?: string }) => {
      // The schema exists and PostgreSQL reported no error: pg-boss does not support this version of the schema.
      const isOther = error.code === undefined && !isTransient(error) && (await boss.isInstalled().catch(() => false));
      throw isOther ? otherVersion() : error;
    });
    const before = this.#boss;
    this.#boss = boss;
    await before?.stop({ graceful: false, close: false }).catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const over = new AbortController();
    await Promise.race([this.#lastWrite, delay(LAST_WRITE_MS, over.signal)]);
    over.abort();
    await this.#boss?.stop({ graceful: false, close: false }).catch(() => {});
    await this.#reading[Symbol.asyncDispose]();
    await this.#writing[Symbol.asyncDispose]();
  }
}

function otherVersion(): NightshiftError {
  return new NightshiftError(
    'usage',
    "the fleet's database is from another version of Nightshift",
    'upgrade whichever is older: a coordinator updates the database when it starts; workers need its version then',
  );
}

/** pg-boss says that it needs Node 22.12: an older Node that can't load it gets a sentence about it. */
async function loadBoss(): Promise<typeof import('pg-boss')> {
  try {
    return await import('pg-boss');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new NightshiftError(
      'usage',
      `pg-boss, which fleets need, can't be loaded: ${reason}`,
      `this is Node ${process.versions.node}; use Node 22.12 or newer, and install Nightshift again`,
    );
  }
}

/** A password must not be sent over the network to a server that is not verified. */
function readUrl(url: string, isInsecure: boolean): ClientConfig {
  const parsed = parseUrl(url);
  if (!parsed) {
    throw new NightshiftError(
      'usage',
      'the address of the fleet is not a PostgreSQL URL',
      'write it like postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full, with %25 for a % in it',
    );
  }
  const remote = hostsIn(parsed).find((host) => !isHere(host));
  const isVerified = parsed.searchParams.getAll('sslmode').at(-1) === 'verify-full';
  if (remote !== undefined && !isVerified && !isInsecure) {
    throw new NightshiftError(
      'usage',
      `the connection to ${remote} would not be encrypted and verified`,
      'add ?sslmode=verify-full to the address, and &sslrootcert=FILE for a private CA; or use --insecure',
    );
  }
  return { connectionString: url };
}

function parseUrl(text: string): URL | undefined {
  try {
    const url = new URL(text);
    // `pg` decodes them, and fails without saying where.
    for (const part of [url.username, url.password, url.hostname, url.pathname]) decodeURIComponent(part);
    return ['postgres:', 'postgresql:'].includes(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Where `pg` may connect to: `?host=` and PGHOST count as well as the host of the address. */
function hostsIn(url: URL): string[] {
  const named = [
    decodeURIComponent(url.hostname),
    ...url.searchParams.getAll('host'),
    ...url.searchParams.getAll('hostaddr'),
  ];
  const given = named.filter((host) => host !== '');
  return given.length > 0 ? given : [process.env.PGHOST ?? ''];
}

/** A socket of this machine is a path. */
function isHere(host: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]', '::1', ''].includes(host) || host.startsWith('/');
}

/**
 * How many jobs a command of pg-boss changed; its types leave it out. None if their queue was removed: a coordinator does
 * that when the last of them is forgotten.
 */
export async function affectedBy(command: Promise<object>): Promise<number> {
  try {
    return ((await command) as { readonly affected?: number }).affected ?? 0;
  } catch (error) {
    if (isQueueMissing(error)) return 0;
    throw error;
  }
}

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Called with each failure, in one line. */
  readonly onFailure?: (reason: string) => void;
  /** Repairs a database without its schema. Absent: waits until someone has. */
  readonly onSchemaMissing?: () => Promise<void>;
}

/**
 * Repeats a statement until it is answered. Every statement may be repeated, so a lost answer does no harm. Throws if
 * the signal aborts, and for errors that do not pass.
 */
export async function untilAnswered<T>(act: () => Promise<T>, retry: RetryOptions): Promise<T> {
  const { signal, onFailure, onSchemaMissing } = retry;
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      return await act();
    } catch (error) {
      const isMissing = isSchemaMissing(error);
      if (!isMissing && !isTransient(error)) throw error;
      const failure = signal.aborted || !isMissing ? error : await repair(error, onSchemaMissing);
      onFailure?.(typeof failure === 'string' ? failure : describeFailure(failure));
      if (signal.aborted) throw error;
      await delay(wait, signal);
    }
  }
}

/** Returns what to report. A repair may fail, too; it is retried. */
async function repair(error: unknown, act: RetryOptions['onSchemaMissing']): Promise<unknown> {
  if (!act) return error;
  return act().then(
    () => 'parts of its schema were missing and have been recreated',
    (cause: unknown) => cause,
  );
}

/** Resolves after this time, or as soon as the signal aborts. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
