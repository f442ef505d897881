import { EXIT } from '../../core/model/errors.ts';
import { serve } from '../../mcp/server.ts';
import type { Io } from '../io.ts';
import { readVersion } from '../version.ts';

export async function run(io: Io): Promise<number> {
  if (io.isInteractive) io.warn('This is for programs: it speaks MCP on standard input and output. Ctrl-D ends it.');
  await serve(io, readVersion());
  return EXIT.done;
}
