import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, link, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import type { PostgresPrograms } from './programs.ts';
import { type Environment, mayEnter, runServerProgram, type ServerUser } from './server-user.ts';

/** The superuser of the server. Its password is in `server.json` alone, which only its owner can read. */
export const SUPERUSER = 'postgres';

/** What must stay the same over restarts, so that the URLs of workers stay valid. */
export interface ServerRecord {
  readonly port: number;
  readonly password: string;
}

/** How to make a data folder. */
interface NewData {
  readonly password: string;
  readonly isDurable: boolean;
  readonly signal?: AbortSignal;
}

/**
 * The folder of one server: `server.json` (port and password), `data`, `postgres.log`, and `users` with one file for
 * each run that uses it.
 */
export class ServerHome {
  readonly folder: string;
  readonly user: ServerUser | undefined;
  readonly #env: Environment;

  private constructor(folder: string, user: ServerUser | undefined, env: Environment) {
    this.folder = folder;
    this.user = user;
    this.#env = env;
  }

  /**
   * As root, another user runs the server. If that user can't enter `folder` (a project in root's home), the server
   * lives below /var/lib: we don't change the permissions of your folders.
   */
  static async open(folder: string, user: ServerUser | undefined, env: Environment): Promise<ServerHome> {
    await ownFolder(folder, user);
    // The server is recognised by the path of its data.
    const real = await realpath(folder);
    if (await mayEnter(user, real, env)) return new ServerHome(real, user, env);
    const name = createHash('sha256').update(real).digest('hex').slice(0, 16);
    const elsewhere = join('/var/lib/nightshift/postgres', name);
    await ownFolder(elsewhere, user);
    return new ServerHome(elsewhere, user, env);
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get log(): string {
    return join(this.folder, 'postgres.log');
  }

  get users(): string {
    return join(this.folder, 'users');
  }

  /** Made at the first start. When two make it at once, both get the same. */
  async record(makePort: () => Promise<number>): Promise<ServerRecord> {
    const file = join(this.folder, 'server.json');
    const written = await readRecord(file);
    if (written) return written;
    const draft = await this.#writeDraft({ port: await makePort(), password: randomBytes(24).toString('base64url') });
    await link(draft, file).catch(() => {});
    await rm(draft, { force: true });
    const record = await readRecord(file);
    if (record) return record;
    throw new NightshiftError('bad-folder', `${file} can't be read`, `remove ${this.folder} and start again`, { file });
  }

  async changePort(record: ServerRecord, port: number): Promise<ServerRecord> {
    const changed = { ...record, port };
    await rename(await this.#writeDraft(changed), join(this.folder, 'server.json'));
    return changed;
  }

  /** Makes the data folder if there is none. A copy made halfway, or by a concurrent start, is never used. */
  async initialize({ bin, major }: PostgresPrograms, options: NewData): Promise<void> {
    const version = await readFile(join(this.data, 'PG_VERSION'), 'utf8').catch(() => undefined);
    if (version !== undefined && Number.parseInt(version, 10) === major) return;
    // A new major version can't read the files of the old one. They are kept, although only work in flight is in them.
    if (version !== undefined) await rename(this.data, `${this.data}-${version.trim()}-${Date.now()}`);
    await removeAbandoned(this.folder);
    const made = this.#newName();
    const passwordFile = `${made}.password`;
    try {
      await mkdir(made, { mode: 0o700 });
      await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600 });
      for (const path of [made, passwordFile]) await this.#giveToServer(path);
      await this.#initdb({ ...options, bin, made, passwordFile });
      await rename(made, this.data).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      });
    } finally {
      await rm(passwordFile, { force: true });
      await rm(made, { recursive: true, force: true });
    }
  }

  /** Renamed first, so that a start in the meantime creates new data. */
  async removeData(): Promise<void> {
    const removed = this.#newName();
    await rename(this.data, removed).catch(() => {});
    await rm(removed, { recursive: true, force: true });
  }

  #newName(): string {
    return join(this.folder, `new-${process.pid}-${randomBytes(4).toString('hex')}`);
  }

  async #initdb(options: NewData & { bin: string; made: string; passwordFile: string }): Promise<void> {
    const { bin, made, passwordFile, isDurable, signal } = options;
    const file = join(bin, 'initdb');
    const args = [
      ...['--pgdata', made, '--username', SUPERUSER, '--pwfile', passwordFile],
      // A password also on loopback: other users of the machine can connect to it.
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--locale', 'C'],
      ...(isDurable ? [] : ['--no-sync']),
    ];
    const end = await runServerProgram({ file, args, user: this.user, env: this.#env, ...(signal && { signal }) });
    signal?.throwIfAborted();
    if (end.isDone) return;
    throw new NightshiftError(
      'resources',
      `can't create PostgreSQL's files in ${this.folder}: ${end.text.split('\n').slice(-6).join('\n')}`,
      `check that the disk has 100 MB free and that ${file} works, or give the URL of a server with --fleet URL`,
      { file: this.folder },
    );
  }

  async #giveToServer(path: string): Promise<void> {
    if (this.user) await chown(path, this.user.uid, this.user.gid);
  }

  async #writeDraft(record: ServerRecord): Promise<string> {
    const draft = join(this.folder, `server-${process.pid}-${randomBytes(4).toString('hex')}.json`);
    await writeFile(draft, `${JSON.stringify(record)}\n`, { mode: 0o600, flush: true });
    return draft;
  }
}

/** Removes `new-PID-...` folders of processes that were killed. */
export async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^new-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(join(folder, name), { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function ownFolder(folder: string, user: ServerUser | undefined): Promise<void> {
  try {
    await mkdir(join(folder, 'users'), { recursive: true });
    // The server's user passes through to `data` and can't see what else is here.
    await chmod(folder, user ? 0o711 : 0o700);
    await chmod(join(folder, 'users'), 0o700);
  } catch (error) {
    const message = `can't write to the folder of the temporary PostgreSQL: ${(error as Error).message}`;
    throw new NightshiftError('bad-folder', message, `make ${folder} writable`, { file: folder });
  }
}

async function readRecord(file: string): Promise<ServerRecord | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  try {
    const { port, password } = JSON.parse(text) as Partial<ServerRecord>;
    if (typeof port === 'number' && typeof password === 'string') return { port, password };
  } catch {
    // Thrown below: the password of the data folder is lost with it.
  }
  throw new NightshiftError('bad-folder', `${file} is damaged`, 'remove its folder and start again', { file });
}
