import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** An MCP server of `.mcp.json`, with its variables filled in. */
export type McpServer =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'http' | 'sse';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export interface ProjectServers {
  readonly servers: ReadonlyMap<string, McpServer>;
  /** Files that could not be read, as messages. */
  readonly problems: readonly string[];
}

/** The servers in the `.mcp.json` of these folders and of those above. The first with a name wins. */
export async function readMcpJson(
  folders: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<ProjectServers> {
  const servers = new Map<string, McpServer>();
  const problems: string[] = [];
  for (const folder of new Set(folders.flatMap(withAncestors))) {
    const file = join(folder, '.mcp.json');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    try {
      const entries = Object.entries((JSON.parse(text) as { mcpServers?: object }).mcpServers ?? {});
      for (const [name, entry] of entries) {
        const server = readServer(entry as RawServer, (value) => fillIn(value, environment));
        if (server && !servers.has(name)) servers.set(name, server);
      }
    } catch (error) {
      problems.push(`${file} can't be read: ${(error as Error).message}`);
    }
  }
  return { servers, problems };
}

/** The nearest first. */
function withAncestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...withAncestors(above)];
}

interface RawServer {
  readonly type?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function readServer(raw: RawServer, fill: (value: string) => string): McpServer | undefined {
  const fillAll = (values: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]));
  if (typeof raw.command === 'string')
    return { kind: 'stdio', command: fill(raw.command), args: (raw.args ?? []).map(fill), env: fillAll(raw.env) };
  if (typeof raw.url === 'string')
    return { kind: raw.type === 'sse' ? 'sse' : 'http', url: fill(raw.url), headers: fillAll(raw.headers) };
  return undefined;
}

/** `${NAME}` and `${NAME:-default}`, as in other programs that read this file. */
function fillIn(value: string, environment: Readonly<Record<string, string>>): string {
  return String(value).replace(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (all, name: string, otherwise?: string) => environment[name] ?? otherwise ?? all,
  );
}
