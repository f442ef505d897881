import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { CHANGING } from './change.ts';
import { LOOKING } from './look.ts';
import { ABOUT_DATA } from './marked-data.ts';
import type { Host } from './tool.ts';

const INSTRUCTIONS = `Nightshift works through a table of similar things with coding agents, unattended: each row is done by one agent, checked by another, and
resumable at any moment. Set up a shift: create_shift, add_task (one for each thing to do with a row), preview. Supervise it: start, which returns
at once, then status now and then (a night is long: wait minutes, not seconds), show_item for what failed, reset, start again.
${ABOUT_DATA}`;

/** Speaks MCP on standard input and output until the client is gone. */
export async function serve(host: Host, version: string): Promise<void> {
  const wire = new ClosingTransport();
  serveStdio(
    () => {
      const server = new McpServer({ name: 'nightshift', version }, { instructions: INSTRUCTIONS });
      for (const add of [...CHANGING, ...LOOKING]) add(server, host);
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
