import type { Stop } from './ports.ts';

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
  readonly #onNow: (signal: string) => void;
  readonly #source: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
  readonly #drainAtMostMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    onDrain: (signal: string) => void,
    onNow: (signal: string) => void = () => {},
    source: Pick<NodeJS.EventEmitter, 'on' | 'off'> = process,
    drainAtMostMs = DRAIN_AT_MOST_MS,
  ) {
    this.#onDrain = onDrain;
    this.#onNow = onNow;
    this.#source = source;
    this.#drainAtMostMs = drainAtMostMs;
    for (const signal of SIGNALS) source.on(signal, this.#receive);
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
      this.#stopNow(signal);
      return;
    }
    this.#timer ??= setTimeout(() => this.#stopNow(signal), this.#drainAtMostMs).unref();
  };

  #stopNow(signal: NodeJS.Signals): void {
    if (this.#now.signal.aborted) return;
    // Said before what it does to those in flight.
    this.#onNow(signal);
    this.#now.abort();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of SIGNALS) this.#source.off(signal, this.#receive);
  }
}
