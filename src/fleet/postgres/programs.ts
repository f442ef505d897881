import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { embeddedPrograms } from './embedded-package.ts';
import { type Environment, findServerUser, runServerProgram, type ServerUser } from './server-user.ts';

/** The oldest version that is still sensible: it has `gen_random_uuid()` and `pg_promote()`. */
const OLDEST_MAJOR = 13;

export interface PostgresPrograms {
  /** The folder with initdb, postgres and pg_ctl. */
  readonly bin: string;
  /** As it says itself: `15.18`. */
  readonly version: string;
  readonly major: number;
}

export interface NoPostgres {
  /** A sentence: no server, and why each one that is there can't be used. */
  readonly missing: string;
}

export interface FindOptions {
  /** Where an earlier `installEmbedded` put its files. */
  readonly embeddedFolder?: string;
  /** Where installers put PostgreSQL. Newer versions sort last; `*` is one path segment or part of it. */
  readonly places?: readonly string[];
}

const PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/postgresql@*/bin',
  '/usr/local/opt/postgresql@*/bin',
  '/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
];

/** The first that runs: of the PATH, of the usual places (newest first), of an earlier `installEmbedded`. */
export async function findPostgres(
  env: Environment,
  { embeddedFolder, places = PLACES }: FindOptions = {},
): Promise<PostgresPrograms | NoPostgres> {
  const user = await findServerUser();
  const reasons: string[] = [];
  const tried = new Set<string>();
  for await (const bin of candidates(env, places, embeddedFolder)) {
    if (tried.has(bin)) continue;
    tried.add(bin);
    const examined = await examinePrograms(bin, { user, env });
    if ('bin' in examined) return examined;
    reasons.push(examined.missing);
  }
  return { missing: ['no usable PostgreSQL server was found on this machine', ...reasons].join('; ') };
}

/** Runs them: a stray or half-removed installation has the files, too. */
export async function examinePrograms(
  bin: string,
  { user, env }: { user: ServerUser | undefined; env: Environment },
): Promise<PostgresPrograms | NoPostgres> {
  const versions: string[] = [];
  for (const name of ['initdb', 'postgres', 'pg_ctl']) {
    const end = await runServerProgram({ file: join(bin, name), args: ['--version'], user, env });
    const version = /\(PostgreSQL\) (\d+[\w.]*)/.exec(end.text)?.[1];
    if (!end.isDone || version === undefined) return { missing: `${join(bin, name)} does not run (${end.text})` };
    versions.push(version);
  }
  const [version = ''] = versions;
  if (versions.some((other) => other !== version)) {
    return { missing: `the programs in ${bin} are of different versions (${versions.join(', ')})` };
  }
  const major = Number.parseInt(version, 10);
  if (major < OLDEST_MAJOR) return { missing: `${bin} is version ${version}, but must be ${OLDEST_MAJOR} or newer` };
  return { bin, version, major };
}

async function* candidates(env: Environment, places: readonly string[], embeddedFolder: string | undefined) {
  for (const folder of (env.PATH ?? '').split(':').filter((part) => part.startsWith('/'))) {
    // A link to one program leads to the folder that has them all.
    const file = await realpath(join(folder, 'initdb')).catch(() => undefined);
    if (file !== undefined) yield dirname(file);
  }
  for (const place of places) yield* (await matches(place)).reverse();
  if (embeddedFolder !== undefined) yield* await embeddedPrograms(embeddedFolder);
}

/** `fs.glob` came with Node 22. */
async function matches(pattern: string): Promise<string[]> {
  let found = ['/'];
  for (const segment of pattern.split('/').filter((part) => part !== '')) {
    const next = await Promise.all(found.map((folder) => matchesIn(folder, segment)));
    found = next.flat();
  }
  const withPrograms = await Promise.all(found.map((bin) => realpath(join(bin, 'initdb')).catch(() => undefined)));
  const bins = withPrograms.filter((file) => file !== undefined).map((file) => dirname(file));
  return bins.sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

async function matchesIn(folder: string, segment: string): Promise<string[]> {
  if (!segment.includes('*')) return [join(folder, segment)];
  const [start = '', end = ''] = segment.split('*');
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.startsWith(start) && name.endsWith(end)).map((name) => join(folder, name));
}
