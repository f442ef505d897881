import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/model/errors.ts';
import { examinePrograms, type PostgresPrograms } from './postgres/programs.ts';
import { isAlive, ServerHome, type ServerRecord, SUPERUSER } from './postgres/server-home.ts';
import { runningServer, type StopMode, spawnServer, stopServer, tailOfLog } from './postgres/server-process.ts';
import { type Environment, findServerUser } from './postgres/server-user.ts';

/**
 * A PostgreSQL for trying out a fleet and for tests, on loopback.
 *
 * Its life: the server belongs to the runs that use its folder. The last of them stops it when it ends by itself. A run
 * that is killed leaves it running; the next start in the folder finds it and takes over, and workers never notice.
 * After a reboot or a crash the next start starts it again on the same data. Every start uses the same port, if it is
 * still free, and the same password, so that the URLs of workers stay valid.
 */
export interface TemporaryPostgres {
  /** Of the superuser: the coordinator makes the roles for workers. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** It was running already. */
  readonly isReused: boolean;
  readonly log: string;
  readonly version: string;
  /** Leaves it running while other runs use it. May be repeated. */
  stop(mode?: StopMode): Promise<'stopped' | 'in-use'>;
  /** The same, and removes its data: 40 MB or more for each project that was tried. */
  discard(): Promise<'stopped' | 'in-use'>;
}

export interface TemporaryOptions {
  /** The folder with the programs, as `findPostgres` gives it. */
  readonly bin: string;
  /** Belongs to the server alone. Made if it is not there. */
  readonly folder: string;
  readonly env: Environment;
  /** At the first start; later ones keep it. A free one by default. */
  readonly port?: number;
  /** `false`: a crash of the machine may lose data. For tests. */
  readonly durable?: boolean;
  /** Locks a file that exists, until the process ends. Undefined if another process has it. */
  readonly lock: TryLock;
  /** More of `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

type TryLock = (file: string) => Disposable | undefined;

const DATABASE = 'nightshift';
/** A recovery after a crash reads at most 256 MB of log. */
const READY_MS = 60_000;
const POLL_MS = 50;
/** After a kill, the server's children live a moment longer, and no new server starts until they end. */
const ATTEMPTS = 4;
const PAUSE_MS = 700;

export async function startPostgres(options: TemporaryOptions): Promise<TemporaryPostgres> {
  const { bin, folder, env, port, durable = true, lock, signal } = options;
  const user = await findServerUser();
  const programs = await examinePrograms(bin, { user, env });
  if ('missing' in programs) {
    const fix = 'reinstall PostgreSQL, or give the URL of a server with --fleet URL';
    throw new NightshiftError('not-found', `PostgreSQL can't be started: ${programs.missing}`, fix, { file: bin });
  }
  const home = await ServerHome.open(folder, user, env);
  // Before looking for a running server: another run that ends now sees that it is still needed.
  const use = await registerUse(home, lock);
  try {
    const record = await home.record(async () => port ?? (await freePort()));
    const running = await findRunning(home, record, signal);
    const files = { password: record.password, isDurable: durable, ...(signal && { signal }) };
    if (!running) await home.initialize(programs, files);
    const server = running ?? (await startServer({ home, record, programs, options }));
    await makeDatabase(urlOf(server.record, 'postgres'));
    const stop = async (mode: StopMode = 'fast') => {
      await use.end();
      if (await isInUse(home, lock)) return 'in-use';
      await stopServer(home, mode);
      return 'stopped';
    };
    return {
      url: urlOf(server.record, DATABASE),
      port: server.record.port,
      pid: server.pid,
      isReused: running !== undefined,
      log: home.log,
      version: programs.version,
      stop,
      discard: async () => {
        const end = await stop();
        // Another start may need it by now.
        if (end === 'stopped' && !(await isInUse(home, lock))) await home.removeData();
        return end;
      },
    };
  } catch (error) {
    await use.end();
    // The caller gets nothing that could stop it.
    if (!(await isInUse(home, lock))) await stopServer(home, 'fast');
    throw error;
  }
}

interface Server {
  readonly pid: number;
  readonly record: ServerRecord;
}

async function findRunning(home: ServerHome, record: ServerRecord, signal?: AbortSignal): Promise<Server | undefined> {
  const found = await runningServer(home);
  if (!found) return;
  // It may be recovering from a crash. If it ends instead, it is started again.
  const current = found.port === record.port ? record : { ...record, port: found.port };
  const isReady = await waitUntilReady(current, () => isAlive(found.pid), signal);
  return isReady ? { pid: found.pid, record: current } : undefined;
}

async function startServer(parts: {
  home: ServerHome;
  record: ServerRecord;
  programs: PostgresPrograms;
  options: TemporaryOptions;
}): Promise<Server> {
  const { home, programs, options } = parts;
  const { env, durable: isDurable = true, settings = {}, signal } = options;
  let { record } = parts;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (!(await isFree(record.port))) {
      // Perhaps only for a moment. Another port makes the URLs that workers have invalid.
      if (attempt <= ATTEMPTS / 2) {
        await sleep(PAUSE_MS, undefined, { signal });
        continue;
      }
      record = await home.changePort(record, await freePort());
    }
    const { bin } = programs;
    const child = await spawnServer(home, { bin, port: record.port, isDurable, env, settings });
    // Not by its events: it may have ended before we listen.
    const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
    await waitUntilReady(record, isRunning, signal).catch((error) => {
      child.kill('SIGQUIT');
      throw error;
    });
    // If two starts meet, PostgreSQL lets one of their servers live, and both use it.
    const server = await findRunning(home, record, signal);
    if (server) return server;
    await sleep(PAUSE_MS, undefined, { signal });
  }
  throw new NightshiftError(
    'resources',
    `the temporary PostgreSQL ${programs.version} did not start in ${home.folder}; its log ends with:\n${await tailOfLog(home)}`,
    `read ${home.log}; if the data is damaged, remove ${home.data}: only work in flight is in it`,
    { file: home.log },
  );
}

/** Waits until a query succeeds. Returns false if the server has exited. Throws if it takes too long. */
async function waitUntilReady(record: ServerRecord, isRunning: () => boolean, signal?: AbortSignal): Promise<boolean> {
  let last = '';
  for (const end = Date.now() + READY_MS; Date.now() < end; await sleep(POLL_MS, undefined, { signal })) {
    if (!isRunning()) return false;
    try {
      await query(urlOf(record, 'postgres'), 'select 1');
      return isRunning();
    } catch (error) {
      last = (error as Error).message;
    }
  }
  throw new NightshiftError(
    'resources',
    `the temporary PostgreSQL on port ${record.port} does not answer (${last})`,
    'wait a moment and start again, or give the URL of a server with --fleet URL',
  );
}

async function makeDatabase(url: string): Promise<void> {
  const { rowCount } = await query(url, `select 1 from pg_database where datname = '${DATABASE}'`);
  if (rowCount) return;
  await query(url, `create database ${DATABASE}`).catch((error: { code?: string }) => {
    // A concurrent start created it: 42P04 duplicate_database, 23505 unique_violation.
    if (error.code !== '42P04' && error.code !== '23505') throw error;
  });
}

async function query(url: string, text: string): Promise<{ rowCount: number | null }> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000, query_timeout: 20_000 });
  // A connection that breaks also fails the query.
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.query(text);
  } finally {
    await client.end().catch(() => {});
  }
}

function urlOf({ port, password }: ServerRecord, database: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}

/** By a locked file: a process id may belong to another program after a reboot. */
async function registerUse(home: ServerHome, lock: TryLock): Promise<{ end(): Promise<void> }> {
  for (;;) {
    const file = join(home.users, `${process.pid}-${randomBytes(4).toString('hex')}`);
    await writeFile(file, '', { mode: 0o600 });
    const held = lock(file);
    // Between the two, another process may have taken it for a file of a run that was killed.
    if (held && existsSync(file)) return useBy(file, held);
    held?.[Symbol.dispose]();
  }
}

function useBy(file: string, held: Disposable): { end(): Promise<void> } {
  let hasEnded = false;
  return {
    end: async () => {
      if (hasEnded) return;
      hasEnded = true;
      await rm(file, { force: true });
      held[Symbol.dispose]();
    },
  };
}

async function isInUse(home: ServerHome, lock: TryLock): Promise<boolean> {
  let count = 0;
  for (const name of await readdir(home.users)) {
    const file = join(home.users, name);
    using held = existsSync(file) ? lock(file) : undefined;
    if (held) await rm(file, { force: true });
    else if (existsSync(file)) count++;
  }
  return count > 0;
}

async function isFree(port: number): Promise<boolean> {
  return (await listenOn(port)) === port;
}

async function freePort(): Promise<number> {
  const port = await listenOn(0);
  if (port !== undefined) return port;
  throw new NightshiftError('resources', 'no free port was found on 127.0.0.1', "close programs that you don't need");
}

function listenOn(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on('error', () => resolve(undefined));
    server.listen({ host: '127.0.0.1', port }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
