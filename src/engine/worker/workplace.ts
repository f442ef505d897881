import type { Conversation } from './conversation.ts';
import type { Scratch } from './scratch.ts';

/**
 * Where an order is carried out: a private folder, the signals that end it, and the session of a dev. Because a qa
 * may send the item back, it can outlive its order; between two orders its timeout does not run.
 */
export class Workplace implements AsyncDisposable {
  readonly scratch: Scratch;
  /** The dev's: one for all attempts. */
  conversation: Conversation | undefined;
  attempt = 1;
  readonly #stop = new AbortController();
  readonly #timeout = new AbortController();
  /** Aborts when the run stops, the item is withdrawn, or its time is up. */
  readonly signal = AbortSignal.any([this.#stop.signal, this.#timeout.signal]);

  constructor(scratch: Scratch) {
    this.scratch = scratch;
  }

  /** Aborts when its time is up. */
  get timeout(): AbortSignal {
    return this.#timeout.signal;
  }

  /** For one order: what stops it, and what aborts when its time is up. */
  hold(stop: AbortSignal, timeout: AbortSignal): Disposable {
    const listening = [follow(stop, this.#stop), follow(timeout, this.#timeout)];
    return {
      [Symbol.dispose]() {
        for (const end of listening) end();
      },
    };
  }

  async endConversation(): Promise<void> {
    const { conversation } = this;
    this.conversation = undefined;
    await conversation?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.endConversation();
    await this.scratch[Symbol.asyncDispose]();
  }
}

/** Returns a function that stops following it. */
function follow(signal: AbortSignal, controller: AbortController): () => void {
  const onAbort = () => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/**
 * Workplaces of devs whose items wait for their verdict, by token. They are in memory only and end with the process.
 */
export class KeptWorkplaces implements AsyncDisposable {
  readonly #kept = new Map<string, Workplace>();

  keep(token: string, place: Workplace): void {
    this.#kept.set(token, place);
  }

  take(token: string): Workplace | undefined {
    const place = this.#kept.get(token);
    this.#kept.delete(token);
    return place;
  }

  /** The item does not go back to its dev. */
  async drop(token: string): Promise<void> {
    await this.take(token)?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((token) => this.drop(token)));
  }
}
