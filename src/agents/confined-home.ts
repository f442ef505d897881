import { copyFile, mkdir, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Mount, type Sandbox, withMounts } from '../core/workspace/sandbox.ts';
import type { Opening } from './agent.ts';
import { codexHome } from './codex/session-file.ts';
import { findProgram } from './program.ts';

type Environment = Readonly<Record<string, string>>;
type Place = Pick<Opening, 'scratch' | 'folder'> & Pick<AtHome, 'sandbox'>;

/** How a program is started that keeps its login, its settings and its sessions in the home folder. */
export interface AtHome {
  readonly environment: Environment;
  readonly sandbox?: Sandbox | undefined;
}

/**
 * In a sandbox, a program gets its own folder for this order, with your settings read-only. It can write your login:
 * tokens are renewed now and then, and the old ones are void after that.
 */
export async function claudeAtHome({ sandbox, scratch, folder }: Place, environment: Environment): Promise<AtHome> {
  if (sandbox === undefined) return { environment };
  const { CLAUDE_CONFIG_DIR: own, HOME = '/' } = environment;
  const [config, state] = own ? [own, join(own, '.claude.json')] : [join(HOME, '.claude'), join(HOME, '.claude.json')];
  const inside = join(scratch, 'claude-home');
  await mkdir(inside, { recursive: true, mode: 0o700 });
  // A copy, since it is replaced with every change. The first question of a session makes it.
  await copyFile(state, join(inside, '.claude.json'), COPY_NEW).catch(() => {});
  const mounts = [
    ...moved(config, inside, 'read', ['settings.json', 'CLAUDE.md']),
    ...moved(config, inside, 'write', ['.credentials.json']),
    ...(await programMounts('claude', { folder, environment })),
  ];
  return { environment: { ...environment, CLAUDE_CONFIG_DIR: inside }, sandbox: withMounts(sandbox, mounts) };
}

const COPY_NEW = 1;

export async function codexAtHome({ sandbox, scratch, folder }: Place, environment: Environment): Promise<AtHome> {
  if (sandbox === undefined) return { environment };
  const config = codexHome(environment);
  const inside = join(scratch, 'codex-home');
  await mkdir(inside, { recursive: true, mode: 0o700 });
  const mounts = [
    ...moved(config, inside, 'read', ['config.toml', 'AGENTS.md', 'models.json']),
    ...moved(config, inside, 'write', ['auth.json']),
    ...(await programMounts('codex', { folder, environment })),
  ];
  return { environment: { ...environment, CODEX_HOME: inside }, sandbox: withMounts(sandbox, mounts) };
}

/** Its server has the home folder for as long as it lives, so nothing needs to move. */
export async function opencodeAtHome(
  { sandbox, folder }: Omit<Place, 'scratch'>,
  environment: Environment,
): Promise<AtHome> {
  if (sandbox === undefined) return { environment };
  const { HOME = '/', XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_CACHE_HOME } = environment;
  const config = join(XDG_CONFIG_HOME || join(HOME, '.config'), 'opencode');
  const data = join(XDG_DATA_HOME || join(HOME, '.local/share'), 'opencode');
  const cache = join(XDG_CACHE_HOME || join(HOME, '.cache'), 'opencode');
  const mounts = [
    // It adds files to its configuration, so that folder is private, and what is in it read-only.
    { path: config, access: 'hidden' as const },
    ...(await readdir(config).catch(() => [])).map((name) => readable(join(config, name))),
    ...[join(data, 'bin'), ...CACHED.map((name) => join(cache, name))].map(readable),
    ...['auth.json', 'mcp-auth.json'].map((name) => ({ path: join(data, name), access: 'write' as const })),
    ...(await programMounts('opencode', { folder, environment })),
  ];
  return { environment, sandbox: withMounts(sandbox, mounts) };
}

/** Programs that OpenCode has downloaded. */
const CACHED = ['bin', 'models.json', 'node_modules', 'package.json', 'packages', 'version'];

/** Which program it is can't be told from its command, so it gets what the known ones need. */
export async function acpAtHome(place: Place, environment: Environment): Promise<AtHome> {
  const claude = await claudeAtHome(place, environment);
  const codex = await codexAtHome({ ...place, ...claude }, claude.environment);
  const { HOME = '/', GEMINI_CLI_HOME = HOME } = environment;
  const { sandbox } = await opencodeAtHome({ ...place, ...codex }, environment);
  const gemini = [
    ...['settings.json', 'GEMINI.md', 'policies'].map((name) => readable(join(GEMINI_CLI_HOME, '.gemini', name))),
    ...['oauth_creds.json', 'google_accounts.json'].map((name) => ({
      path: join(GEMINI_CLI_HOME, '.gemini', name),
      access: 'write' as const,
    })),
  ];
  return { environment: codex.environment, sandbox: withMounts(sandbox, gemini) };
}

function moved(from: string, to: string, access: 'read' | 'write', names: readonly string[]): Mount[] {
  return names.map((name) => ({ path: join(to, name), access, from: join(from, name) }));
}

function readable(path: string): Mount {
  return { path, access: 'read' };
}

/** A program on the PATH may be a link into the home folder, and its package may be elsewhere. */
async function programMounts(name: string, context: { folder: string; environment: Environment }): Promise<Mount[]> {
  const found = await findProgram(name, context);
  const file = found && (await realpath(found).catch(() => undefined));
  if (file === undefined) return [];
  const packages = /^.*?\/node_modules(?=\/)/.exec(file)?.[0];
  return [readable(packages ?? dirname(file))];
}
