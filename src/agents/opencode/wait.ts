import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble } from '../../core/model/model.ts';
import type { Answer } from '../agent.ts';
import type { Listener } from './events.ts';

/** OpenCode asks a provider again by itself; what takes longer than this is given back. */
const LONGEST_PAUSE_MS = 60_000;
const MOST_RETRIES = 6;

/** What may end a turn, besides that it is over. When it is disposed of, nobody waits for it at the door. */
export class Wait implements Listener, Disposable {
  /** Why it is to be ended now. */
  reason: Answer | undefined;
  error: Parameters<Listener['failed']>[0] | undefined;
  isIdle = false;
  /** A turn that fails is idle before it has put away what it had begun. When it has, it is idle once more, or fails again. */
  isSettled = false;
  /** The model is being asked, or will not be. */
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

  /** Until something happens, or has happened since the last time; at most so long. */
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
    // What was idle was the turn before.
    this.isIdle = false;
    // Once when the turn begins, and again when all is loaded and the model is asked.
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
