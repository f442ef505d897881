import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble } from '../../core/model/model.ts';
import type { Answer } from '../agent.ts';
import type { Listener } from './events.ts';

/** OpenCode retries a provider by itself. After this time, the item is given back. */
const LONGEST_PAUSE_MS = 60_000;
const MOST_RETRIES = 6;

/** What may end a turn early. Disposing of it frees the door. */
export class Wait implements Listener, Disposable {
  /** Why to end it now. */
  reason: Answer | undefined;
  error: Parameters<Listener['failed']>[0] | undefined;
  isIdle = false;
  /** A failing turn is idle before it has cleaned up. Then it is idle again, or fails again. */
  isSettled = false;
  /** Resolves when the model is being asked, or won't be. */
  readonly underWay: Promise<void>;
  #setOut: () => void = () => {};
  #timesBusy = 0;
  #hasNews = false;
  #wake: () => void = () => {};
  readonly #signal: AbortSignal;
  readonly #aborted = () => this.#endWith({ kind: 'aborted' });

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.underWay = new Promise((resolve) => {
      this.#setOut = resolve;
    });
    if (signal.aborted) this.#aborted();
    else signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** Waits until something happens, or has happened since the last call; at most this long. */
  async next(milliseconds: number): Promise<void> {
    if (!this.#hasNews) await this.#sleep(milliseconds);
    this.#hasNews = false;
  }

  async #sleep(milliseconds: number): Promise<void> {
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, delay(milliseconds, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }

  busy(): void {
    // The turn before was idle.
    this.isIdle = false;
    // Once when the turn begins, and again when everything is loaded and the model is asked.
    if (++this.#timesBusy === 2) this.setOut();
  }

  setOut(): void {
    this.#setOut();
  }

  idle(): void {
    this.isSettled = this.isIdle;
    this.isIdle = true;
    this.setOut();
    this.#tell();
  }

  failed(error: NonNullable<Wait['error']>): void {
    this.isSettled = this.isIdle;
    this.error = error;
    this.#tell();
  }

  retrying({ attempt, message, next }: Parameters<Listener['retrying']>[0]): void {
    const isFar = next - Date.now() > LONGEST_PAUSE_MS;
    if (!isFar && attempt <= MOST_RETRIES) return;
    this.#endWith({ kind: 'trouble', trouble: { reason: `opencode: ${message}`, ...(isFar ? { until: next } : {}) } });
  }

  gone(how: string): void {
    this.#endWith({ kind: 'trouble', trouble: gone(how) });
  }

  asked(what: string): void {
    this.#endWith({ kind: 'failed', reason: `it asked for ${what}` });
  }

  #tell(): void {
    this.#hasNews = true;
    this.#wake();
  }

  #endWith(answer: Answer): void {
    this.reason ??= answer;
    this.setOut();
    this.#tell();
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#aborted);
    this.setOut();
  }
}

export function gone(how: string): Trouble {
  return { reason: `opencode: its server is gone: ${how}` };
}
