import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findPostgres } from '../../src/fleet/postgres/programs.ts';
import { ServerHome } from '../../src/fleet/postgres/server-home.ts';
import { spawnServer, stopServer } from '../../src/fleet/postgres/server-process.ts';
import { findServerUser, type ServerUser } from '../../src/fleet/postgres/server-user.ts';
import { startPostgres, type TemporaryPostgres } from '../../src/fleet/temporary-postgres.ts';
import { tryLock } from '../../src/store/folder/files/flock.ts';

const FIX = 'install it: apt-get install postgresql';
const found = await findPostgres(process.env);
/** CI installs a server and asks for these tests: then a missing one is a failure. */
const isRun = 'bin' in found || process.env.NIGHTSHIFT_TEST_POSTGRES === 'yes';
if (!isRun) process.stderr.write(`Tests with PostgreSQL are left out: ${found.missing}. To run them, ${FIX}\n`);

/** Left out, with a sentence, where there is no PostgreSQL. */
export const describePostgres = describe.runIf(isRun);
export const postgresTest = test.runIf(isRun);

/** Tests that share a server, which is new and has no fleet. */
export function describeServer(name: string, tests: (postgres: TestPostgres) => void): void {
  describePostgres(name, () => {
    const postgres = new TestPostgres();
    beforeAll(() => postgres.start());
    afterAll(() => postgres.remove());
    tests(postgres);
  });
}

/** The folder with the system's programs: unlike the embedded ones, they include pg_dumpall and pg_basebackup. */
export function postgresBin(): string {
  if ('bin' in found) return found.bin;
  throw new Error(`${found.missing}; ${FIX}`);
}

export interface TestPostgresOptions {
  /** More of `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A real server in a temporary folder. `remove` it at the end. */
export async function startTestPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const server = new TestPostgres(options);
  await server.start();
  return server;
}

/** A new temporary folder. As root, the user who runs the server must pass through it. */
export async function postgresFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightshift-postgres-'));
  await chmod(folder, 0o711);
  return folder;
}

export class TestPostgres implements AsyncDisposable {
  readonly #settings: Readonly<Record<string, string>>;
  #folder: string | undefined;
  #server: TemporaryPostgres | undefined;
  #url = '';
  readonly #standbys: Standby[] = [];

  constructor({ settings = {} }: TestPostgresOptions = {}) {
    this.#settings = settings;
  }

  /** Made with the first start. */
  get folder(): string {
    if (this.#folder === undefined) throw new Error('the server was never started');
    return this.#folder;
  }

  /** The same over restarts. */
  get url(): string {
    return this.#url;
  }

  get port(): number {
    return Number(new URL(this.#url).port);
  }

  get pid(): number {
    if (!this.#server) throw new Error('the server is stopped');
    return this.#server.pid;
  }

  /** What the server has logged. */
  get log(): string {
    return this.#server ? readFileSync(this.#server.log, 'utf8') : '';
  }

  async start(): Promise<void> {
    const bin = postgresBin();
    this.#folder ??= await postgresFolder();
    const server = await startPostgres({
      bin,
      folder: join(this.#folder, 'primary'),
      env: process.env,
      lock: tryLock,
      durable: false,
      settings: this.#settings,
    });
    this.#server = server;
    if (this.#url !== '' && this.#url !== server.url) throw new Error(`its port was taken: now ${server.port}`);
    this.#url = server.url;
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.#server?.stop(mode);
    this.#server = undefined;
  }

  /** Ends it without warning and starts it again on the same port. `kill`: kill -9 of its main process. */
  async crash(how: 'kill' | 'immediate' = 'kill'): Promise<void> {
    if (how === 'kill') process.kill(this.pid, 'SIGKILL');
    await this.stop('immediate');
    await this.start();
  }

  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return await query<Row>(this.#url, text, values);
  }

  /** Everything in it as text: all databases, roles and their passwords' hashes. */
  async dump(): Promise<string> {
    return await run('pg_dumpall', ['--no-sync'], { url: this.#url });
  }

  /** A streaming replica that applies each commit `delay` after it was made. */
  async standby({ delay = '5s' }: { delay?: string } = {}): Promise<Standby> {
    const folder = join(this.folder, `standby-${this.#standbys.length + 1}`);
    const home = await ServerHome.open(folder, await findServerUser(), process.env);
    await mkdir(home.data, { mode: 0o700 });
    if (home.user) await chown(home.data, home.user.uid, home.user.gid);
    const { user } = home;
    const args = ['--pgdata', home.data, '--write-recovery-conf', '--checkpoint', 'fast', '--no-sync'];
    await run('pg_basebackup', args, { url: this.#url, ...(user && { user }) });
    const standby = new Standby(home, this.#url, await freePort());
    this.#standbys.push(standby);
    await standby.start({ recovery_min_apply_delay: delay });
    return standby;
  }

  async remove(): Promise<void> {
    await Promise.all(this.#standbys.map((standby) => standby.stop()));
    await this.stop('immediate');
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

export class Standby {
  readonly port: number;
  readonly url: string;
  readonly #home: ServerHome;

  constructor(home: ServerHome, primary: string, port: number) {
    this.#home = home;
    this.port = port;
    this.url = Object.assign(new URL(primary), { port: String(port) }).href;
  }

  async start(settings: Readonly<Record<string, string>>): Promise<void> {
    const { port } = this;
    await spawnServer(this.#home, { bin: postgresBin(), port, isDurable: false, env: process.env, settings });
    await until('the standby answers', () => query(this.url, 'select 1'));
  }

  /**
   * Becomes a primary with exactly what it has applied so far: what it received and held back is lost, as with a
   * standby that was behind when the primary burnt down. (`pg_promote` would first apply everything it received.)
   */
  async promote(): Promise<void> {
    const [row] = await query<{ applied: string; held: boolean }>(
      this.url,
      `select pg_last_wal_replay_lsn()::text as applied,
        coalesce(pg_last_wal_receive_lsn() > pg_last_wal_replay_lsn(), false) as held`,
    );
    if (!row?.held) {
      await query(this.url, 'select pg_promote()');
      return;
    }
    await this.stop();
    await this.start({
      primary_conninfo: '',
      recovery_target_lsn: row.applied,
      recovery_target_inclusive: 'off',
      recovery_target_action: 'promote',
    });
    await until('the standby is a primary', async () => {
      const [state] = await query<{ standby: boolean }>(this.url, 'select pg_is_in_recovery() as standby');
      if (state?.standby) throw new Error('still a standby');
    });
  }

  async stop(): Promise<void> {
    await stopServer(this.#home, 'immediate');
  }
}

async function run(program: string, args: readonly string[], { user, url }: { user?: ServerUser; url: string }) {
  const { stdout } = await promisify(execFile)(join(postgresBin(), program), ['--dbname', url, ...args], {
    cwd: '/',
    // pg_dumpall does not hand on the password of its URL.
    env: { PATH: process.env.PATH, PGPASSWORD: new URL(url).password },
    maxBuffer: Number.POSITIVE_INFINITY,
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  return stdout;
}

async function query<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

async function until(what: string, look: () => Promise<unknown>): Promise<void> {
  let last: unknown;
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    try {
      await look();
      return;
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`waited in vain until ${what}`, { cause: last });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
