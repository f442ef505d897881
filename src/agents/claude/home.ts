import { readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../json-lines.ts';

type Environment = Readonly<Record<string, string>>;
type Servers = Readonly<Record<string, unknown>>;

/**
 * The MCP servers that Claude Code would have in a folder, by name: the user's, those of `.mcp.json`, and those of
 * the project in the user's configuration. As in the program, later ones win, and nearer folders. Without those of
 * plugins.
 */
export async function configuredServers(folder: string, environment: Environment): Promise<Servers> {
  const { CLAUDE_CONFIG_DIR: own, HOME = '/' } = environment;
  const config = await readObject(join(own || HOME, '.claude.json'));
  const projects = isRecord(config.projects) ? config.projects : {};
  let servers = serversOf(config);
  const places = placesAbove(folder);
  for (const place of places) servers = { ...servers, ...serversOf(await readObject(join(place, '.mcp.json'))) };
  for (const place of places) servers = { ...servers, ...serversOf(projects[place]) };
  return servers;
}

/** This folder and all above it, the farthest first. */
function placesAbove(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [...placesAbove(above), folder];
}

function serversOf(config: unknown): Servers {
  return isRecord(config) && isRecord(config.mcpServers) ? config.mcpServers : {};
}

/** An unreadable file counts as empty: the program itself reports it. */
async function readObject(file: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** Removes the program's record of a session: it won't be resumed, and your history stays yours. */
export async function removeSession(id: string, { CLAUDE_CONFIG_DIR: own, HOME = '/' }: Environment): Promise<void> {
  const home = own || join(HOME, '.claude');
  await rm(join(home, 'session-env', id), { recursive: true, force: true });
  const projects = join(home, 'projects');
  for (const project of await readdir(projects).catch(() => [])) {
    const folder = join(projects, project);
    const files = (await readdir(folder).catch(() => [])).filter((file) => file === id || file === `${id}.jsonl`);
    for (const file of files) await rm(join(folder, file), { recursive: true, force: true });
    // Only if nothing else is in it.
    if (files.length > 0) await rmdir(folder).catch(() => {});
  }
}
