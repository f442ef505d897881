import { setTimeout as delay } from 'node:timers/promises';
import type { Trouble } from '../core/model.ts';
import type { Answer } from './agent.ts';
import type { Listener } from './opencode-events.ts';

/** OpenCode asks a provider again by itself; what takes longer than this is given back. */
const LONGEST_PAUSE_MS = 60_000;
const MOST_RETRIES = 6;

/** What may end a turn, besides that it is over. */
export class Wait implements Listener {
  /** Why it is to be ended now. */
  reason: Answer | undefined;
  error: Parameters<Listener['failed']>[0] | undefined;
  wasIdle = false;
  /** The model is being asked, or will not be. */
  readonly underWay: Promise<void>;
  #setOut: () => void = () => {};
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.underWay = new Promise((resolve) => {
      this.#setOut = resolve;
    });
    const aborted = () => this.#endWith({ kind: 'aborted' });
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  }

  async next(milliseconds: number): Promise<void> {
    if (this.reason) return;
    const timer = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    await Promise.race([woken, delay(milliseconds, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
  }

  setOut(): void {
    this.#setOut();
  }

  idle(): void {
    this.wasIdle = true;
    this.#setOut();
    this.#wake();
  }

  failed(error: NonNullable<Wait['error']>): void {
    this.error = error;
    this.#wake();
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

  #endWith(answer: Answer): void {
    this.reason ??= answer;
    this.#setOut();
    this.#wake();
  }
}

export function gone(how: string): Trouble {
  return { reason: `opencode: its server is gone: ${how}` };
}
