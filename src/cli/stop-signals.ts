import { StopRequest } from '../app/run/stop-request.ts';

/** After SIGTERM or SIGHUP: a closed terminal or a machine that shuts down does not wait longer. */
const DRAIN_AT_MOST_MS = 60_000;
export const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Turns process signals into a stop of the run: the first Ctrl-C lets running items finish, the second ends them.
 * SIGTERM and SIGHUP let them finish for at most a minute.
 */
export class StopSignals implements Disposable {
  readonly #drain = new AbortController();
  readonly #now = new AbortController();
  readonly #source: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
  readonly #drainAtMostMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: Pick<NodeJS.EventEmitter, 'on' | 'off'> = process, drainAtMostMs = DRAIN_AT_MOST_MS) {
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
      this.#drain.abort(new StopRequest(signal));
      if (signal === 'SIGINT') return;
    } else if (signal === 'SIGINT') {
      this.#stopNow(signal);
      return;
    }
    this.#timer ??= setTimeout(() => this.#stopNow(signal), this.#drainAtMostMs).unref();
  };

  #stopNow(signal: NodeJS.Signals): void {
    if (!this.#now.signal.aborted) this.#now.abort(new StopRequest(signal));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const signal of SIGNALS) this.#source.off(signal, this.#receive);
  }
}
