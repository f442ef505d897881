import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from './json-lines.ts';

type Environment = Readonly<Record<string, string>>;
type Servers = Readonly<Record<string, unknown>>;

/** Where Claude Code keeps the login, the sessions and the settings of its user. */
export function configFolder({ CLAUDE_CONFIG_DIR: own, HOME = '/' }: Environment): string {
  return own === undefined || own === '' ? join(HOME, '.claude') : own;
}

/**
 * The MCP servers that a user of Claude Code would have in a folder, by name: of the user, of `.mcp.json`, of the project in
 * the user's configuration; as in the program, the later wins, and the nearer folder. Those of plugins are not among them.
 */
export async function configuredServers(folder: string, environment: Environment): Promise<Servers> {
  const { CLAUDE_CONFIG_DIR: own, HOME = '/' } = environment;
  const config = await readObject(join(own === undefined || own === '' ? HOME : own, '.claude.json'));
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

/** What can't be read holds nothing: the program itself will say what is wrong with it. */
async function readObject(file: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
