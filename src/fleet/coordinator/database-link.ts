import { setMaxListeners } from 'node:events';
import type { Emit } from '../../core/model/events.ts';
import { delay, type RetryOptions, untilAnswered } from '../database.ts';
import { isTransient } from '../failure.ts';

/** After a stop, a run does not wait longer for its database. */
const GIVE_UP_MS = 8000;
/** How long statements that are under way may still take after that. A database that works answers sooner. */
const ANSWER_MS = 2000;

export interface LinkOptions {
  readonly emit: Emit;
  /** The run ends at once. */
  readonly stopped: AbortSignal;
  /** The run can't continue. */
  onFailure(error: unknown): void;
  /** The database was dropped, or is an older one: makes it usable again. */
  repair(): Promise<void>;
}

/** A coordinator's access to its database: waits while it can't be reached, and repairs it if it is empty. */
export class DatabaseLink {
  readonly retry: RetryOptions;
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #givenUp = new AbortController();
  #isTroubled = false;
  #repairing: Promise<void> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.retry = {
      signal: AbortSignal.any([this.#closing.signal, this.#givenUp.signal]),
      onFailure: (reason) => this.#tellTrouble(reason),
      onSchemaMissing: () => this.#repair(),
    };
    // Every order that waits for an answer has one.
    setMaxListeners(0, this.#givenUp.signal);
    const giveUp = () => void setTimeout(() => this.#givenUp.abort(), GIVE_UP_MS).unref();
    options.stopped.addEventListener('abort', giveUp, { once: true });
  }

  /** Aborts when nothing more is to be done. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** This run no longer has a database. */
  get isLost(): boolean {
    return this.#closing.signal.aborted || (this.#givenUp.signal.aborted && this.#isTroubled);
  }

  close(): void {
    this.#closing.abort();
  }

  untilAnswered<T>(act: () => Promise<T>): Promise<T> {
    return untilAnswered(act, this.retry);
  }

  /** For loops: does not throw. An error that a retry can't fix ends the run. */
  async attempt(act: () => Promise<void>): Promise<void> {
    try {
      await this.untilAnswered(act);
    } catch (error) {
      const isEnding = this.#closing.signal.aborted || this.#givenUp.signal.aborted;
      if (!isEnding) this.#options.onFailure(error);
      this.#closing.abort();
    }
  }

  /** False: the run has given up waiting for its database. What is left there is ended by the next start. */
  async unlessGivenUp(act: Promise<void>): Promise<boolean> {
    const over = new AbortController();
    try {
      return await Promise.race([act.then(() => true), this.#givenUpBefore(over.signal)]);
    } catch (error) {
      if (!this.#givenUp.signal.aborted || !isTransient(error)) throw error;
      return false;
    } finally {
      over.abort();
    }
  }

  /** Resolves shortly after the run gave up. A statement may hang for much longer if the network drops packets. */
  #givenUpBefore(over: AbortSignal): Promise<false> {
    const { signal } = this.#givenUp;
    return new Promise((resolve) => {
      const giveUp = () => void delay(ANSWER_MS, over).then(() => resolve(false));
      if (signal.aborted) giveUp();
      else signal.addEventListener('abort', giveUp, { once: true, signal: over });
    });
  }

  /** It was read and written: a later failure is reported again. */
  endTrouble(): void {
    this.#isTroubled = false;
  }

  /** Concurrent callers share one repair. */
  #repair(): Promise<void> {
    this.#repairing ??= this.#options.repair().finally(() => {
      this.#repairing = undefined;
    });
    return this.#repairing;
  }

  /** Once for each outage. */
  #tellTrouble(reason: string): void {
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    const message = `can't use the fleet's database: ${reason}; retrying. Workers continue, and results wait`;
    this.#options.emit({ type: 'run:warning', message });
  }
}
