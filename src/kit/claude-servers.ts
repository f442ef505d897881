import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

interface Configuration {
  readonly mcpServers?: object;
  readonly projects?: Readonly<Record<string, { readonly mcpServers?: object } | undefined>>;
}

/** The first server that neither the project nor the user has configured. A hook can't tell whether it connects. */
export function missingServer(tools: readonly string[], project: string, environment: Environment): string | undefined {
  const wanted = tools.filter((tool) => tool !== 'bash');
  if (wanted.length === 0) return undefined;
  const known = serversOf(project, environment);
  return wanted.find((tool) => !known.includes(tool));
}

/** The server of a tool, as `tools:` of a task names it; the longer name if two match. Nothing if there is none. */
export function serverOf(tool: string, project: string, environment: Environment): string | undefined {
  if (!tool.startsWith('mcp__')) return undefined;
  const known = serversOf(project, environment).filter((name) => tool.startsWith(`mcp__${inTools(name)}__`));
  return known.toSorted((a, b) => b.length - a.length)[0] ?? tool.split('__')[1];
}

function inTools(server: string): string {
  return server.replace(/[^a-zA-Z0-9_-]/g, '_');
}

function serversOf(project: string, { HOME = '', CLAUDE_CONFIG_DIR }: Environment): string[] {
  const own = read(join(CLAUDE_CONFIG_DIR ?? HOME, '.claude.json'));
  const folders = [project];
  while (dirname(folders.at(-1)!) !== folders.at(-1)) folders.push(dirname(folders.at(-1)!));
  const parts = [
    ...folders.map((folder) => read(join(folder, '.mcp.json'))),
    own,
    ...folders.map((folder) => own.projects?.[folder] ?? {}),
  ];
  return parts.flatMap(({ mcpServers }) => Object.keys(mcpServers ?? {}));
}

function read(file: string): Configuration {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Configuration;
  } catch {
    return {};
  }
}
