import { setPriority } from 'node:os';
import { EXIT } from '../../core/model/errors.ts';
import type { Io } from '../io.ts';
import { servePage } from '../serve-page.ts';

/** The run comes first. */
const NICENESS = 10;

/** Serves the page for a run in another process. Standard input ends with that process, however it ends. */
export async function run(io: Io, shift: string | undefined): Promise<number> {
  setPriority(NICENESS);
  const over = new AbortController();
  const end = io.readInput().then(() => over.abort());
  await servePage(io, { isReadOnly: false, needsNewAddress: false }, over.signal, (server) => {
    io.print(JSON.stringify({ url: server.address(shift) }));
  });
  await end;
  return EXIT.done;
}
