import type { McpStatus, OpencodeClient } from '@opencode-ai/sdk/v2/client';
import type { Trouble } from '../../core/model/model.ts';
import type { McpServer } from '../mcp-json.ts';
import { toServerConfig } from './config.ts';
import { answered } from './reply.ts';

/** How long an instance may take to end with its MCP processes. */
const DISPOSE_MS = 3000;

interface Folder {
  users: number;
  /** Its MCP servers are not known yet. */
  isNew: boolean;
  /** Every MCP server that this folder has had. */
  readonly servers: Set<string>;
  /**
   * One after the other: the second finds connected what the first needed, and none enters an instance that is
   * ending.
   */
  last: Promise<unknown>;
}

/**
 * The server keeps an instance for each folder, with its own MCP processes. It is ended with its last session; only
 * the root's stays.
 */
export class Folders {
  readonly #client: OpencodeClient;
  readonly #root: string;
  readonly #folders = new Map<string, Folder>();

  constructor(client: OpencodeClient, root: string) {
    this.#client = client;
    this.#root = root;
  }

  /** The MCP servers that the current configuration would start in a folder. */
  async enabledServers(directory: string): Promise<string[]> {
    const { mcp = {} } = answered(await this.#client.config.get({ directory }));
    return Object.entries(mcp).flatMap(([name, config]) => (config.enabled === false ? [] : [name]));
  }

  /** Returns the servers that the rules of a session must cover, or why a named server is missing. */
  async enter(
    directory: string,
    named: readonly string[],
    ofProject: ReadonlyMap<string, McpServer>,
  ): Promise<ReadonlySet<string> | Trouble> {
    const folder = this.#folders.get(directory) ?? {
      users: 0,
      isNew: true,
      servers: new Set(),
      last: Promise.resolve(),
    };
    this.#folders.set(directory, folder);
    folder.users++;
    const connected = folder.last.then(() => this.#connect(directory, folder, named, ofProject));
    folder.last = connected.catch(() => {});
    return (await connected) ?? folder.servers;
  }

  async leave(directory: string): Promise<void> {
    const folder = this.#folders.get(directory);
    if (!folder || --folder.users > 0 || directory === this.#root) return;
    folder.last = folder.last.then(() => this.#end(directory, folder)).catch(() => {});
    await folder.last;
  }

  async #end(directory: string, folder: Folder): Promise<void> {
    // Another session may have come meanwhile, and more may come while it lasts.
    if (folder.users > 0) return;
    folder.isNew = true;
    folder.servers.clear();
    await this.#client.instance.dispose({ directory }, { signal: AbortSignal.timeout(DISPOSE_MS) });
    if (folder.users === 0) this.#folders.delete(directory);
  }

  async #connect(
    directory: string,
    folder: Folder,
    named: readonly string[],
    ofProject: ReadonlyMap<string, McpServer>,
  ): Promise<Trouble | undefined> {
    // Asking for the state of the servers starts the enabled ones.
    const strangers = folder.isNew ? await this.enabledServers(directory) : [];
    folder.isNew = false;
    if (named.length === 0 && strangers.length === 0) return undefined;
    let states = await this.#states(directory);
    for (const name of Object.keys(states)) folder.servers.add(name);
    for (const name of strangers.filter((each) => !named.includes(each))) {
      await this.#client.mcp.disconnect({ directory, name });
    }
    for (const name of named) {
      folder.servers.add(name);
      const server = ofProject.get(name);
      if (states[name]?.status === 'connected') continue;
      if (states[name] !== undefined) await this.#client.mcp.connect({ directory, name });
      else if (server) await this.#client.mcp.add({ directory, name, config: toServerConfig(server) });
    }
    states = await this.#states(directory);
    return named.map((name) => whyNotConnected(name, states[name])).find((trouble) => trouble !== undefined);
  }

  async #states(directory: string): Promise<Record<string, McpStatus>> {
    return answered(await this.#client.mcp.status({ directory }));
  }
}

function whyNotConnected(name: string, state: McpStatus | undefined): Trouble | undefined {
  switch (state?.status) {
    case 'connected':
      return undefined;
    case 'needs_auth':
    case 'needs_client_registration':
      return { reason: `the MCP server ${name} asks for a login`, remedy: `run \`opencode mcp auth ${name}\`` };
    case 'failed':
      return { reason: `the MCP server ${name} does not start: ${state.error}` };
    default:
      return {
        reason: `there is no MCP server ${name} in the configuration of opencode nor in .mcp.json`,
        remedy: 'add it there, or correct `tools:`',
      };
  }
}
