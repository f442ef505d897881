import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { CHANGE_TOOLS } from './change.ts';
import { CONTROL_TOOLS } from './control.ts';
import { READ_TOOLS } from './look.ts';
import { WORKSPACE_TOOLS } from './look-workspaces.ts';
import { ABOUT_DATA } from './marked-data.ts';
import type { Host } from './tool.ts';

const INSTRUCTIONS = `Nightshift works through a table of similar things with coding agents, unattended: one agent does each row, another checks
it, and the work can be resumed at any moment. To set up a shift: create_shift, add_task (one for each thing to do with a row), preview. To supervise
it: start, which returns at once, then status now and then (a night is long: wait minutes, not seconds), show_item for failed rows, reset, start again.
${ABOUT_DATA}`;

/** Input and output; without them, those of the process. */
type Streams = ConstructorParameters<typeof StdioServerTransport>;

/** Serves MCP until the client disconnects. */
export async function serve(host: Host, version: string, ...streams: Streams): Promise<void> {
  const wire = new ClosingTransport(...streams);
  serveStdio(
    () => {
      const server = new McpServer({ name: 'nightshift', version }, { instructions: INSTRUCTIONS });
      for (const add of [...CHANGE_TOOLS, ...CONTROL_TOOLS, ...READ_TOOLS, ...WORKSPACE_TOOLS]) add(server, host);
      return server;
    },
    { transport: wire, onerror: (error) => host.warn(`mcp: ${error.message}`) },
  );
  await wire.closed;
}

/** A transport whose end can be awaited. */
class ClosingTransport extends StdioServerTransport {
  #hasClosed = () => {};
  readonly closed = new Promise<void>((resolve) => {
    this.#hasClosed = resolve;
  });

  override async close(): Promise<void> {
    await super.close();
    this.#hasClosed();
  }
}
