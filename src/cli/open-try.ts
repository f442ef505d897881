import { fileURLToPath } from 'node:url';
import { startTryFleet } from '../app/fleet/try-fleet.ts';
import type { RunSettings } from '../app/run/plan-run.ts';
import { EXIT } from '../core/model/errors.ts';
import { confirm } from './confirm.ts';
import { programSpelling } from './demo/spelling.ts';
import type { Io } from './io.ts';
import { SIGNALS } from './stop-signals.ts';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

/** `--fleet try`: starts a server that ends with the run, and tells how to start a worker. */
export async function openTry(io: Io, root: string): Promise<AsyncDisposable & Pick<RunSettings, 'fleet'>> {
  const interrupted = new AbortController();
  const starting = startTryFleet(root, io, {
    mayDownload: async (question) => {
      const isAllowed = io.isInteractive && (await confirm(io, question));
      if (isAllowed) io.warn('Downloading ...');
      return isAllowed;
    },
    signal: interrupted.signal,
  });
  const signals = listenToSignals(() => {
    interrupted.abort();
    const stopping = starting.then((tried) => tried.stop());
    void stopping.catch(() => {}).finally(() => process.exit(EXIT.interrupted));
  });
  try {
    const tried = await starting;
    io.warn('A temporary PostgreSQL is running until this run ends. Start a worker in another terminal:\n');
    io.warn(`  ${programSpelling(MAIN, io.cwd, io.env)} ${tried.workerArguments}\n`);
    const dispose = async () => {
      const end = await tried.stop();
      signals[Symbol.dispose]();
      if (end === 'stopped') io.warn('PostgreSQL has stopped. Workers wait for the next run; Ctrl-C stops them.');
    };
    return { fleet: tried.address, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    // Then the process exits.
    if (interrupted.signal.aborted) await new Promise(() => {});
    signals[Symbol.dispose]();
    throw error;
  }
}

/** The server is in a session of its own: it would outlive a process that a signal ends before or after the run. */
function listenToSignals(end: () => void): Disposable {
  const receive = (signal: NodeJS.Signals) => {
    // A run that has begun listens itself, and lets its items finish.
    if (process.listenerCount(signal) === 1) end();
  };
  for (const signal of SIGNALS) process.on(signal, receive);
  return {
    [Symbol.dispose]: () => {
      for (const signal of SIGNALS) process.off(signal, receive);
    },
  };
}
