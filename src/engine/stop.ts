import type { Stop } from './run-state.ts';

/** A terminal that went away, or a machine that shuts down, does not wait for long. */
const DRAIN_AT_MOST_MS = 60_000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Signals as people expect them: Ctrl-C once lets running items finish, twice ends them; SIGTERM and SIGHUP let them
 * finish for at most a minute. Whatever happens, the shift resumes.
 */
export class StopSignals implements Stop, Disposable {
  readonly #drain = new AbortController();
  readonly #now = new AbortController();
  readonly #onDrain: (signal: string) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(onDrain: (signal: string) => void) {
    this.#onDrain = onDrain;
    for (const signal of SIGNALS) process.on(signal, this.#receive);
  }

  get drain(): AbortSignal {
    return this.#drain.signal;
  }

  get now(): AbortSignal {
    return this.#now.signal;
  }

  readonly #receive = (signal: NodeJS.Signals): void => {
    if (!this.#drain.signal.aborted) {
      this.#drain.abort();
      this.#onDrain(signal);
      if (signal === 'SIGINT') return;
    } else if (signal === 'SIGINT') {
      this.#now.abort();
      return;
    }
    this.#timer ??= setTimeout(() => this.#now.abort(), DRAIN_AT_MOST_MS).unref();
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of SIGNALS) process.off(signal, this.#receive);
  }
}
