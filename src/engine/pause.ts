import { setTimeout as sleep } from 'node:timers/promises';
import type { RunParts } from './ports.ts';

/** Node takes a longer one for none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Waits; false if one of the signals ended it before its time. */
export async function pause(milliseconds: number, signals: readonly AbortSignal[]): Promise<boolean> {
  return sleep(Math.min(milliseconds, LONGEST_TIMER_MS), true, { signal: AbortSignal.any([...signals]) }).catch(
    () => false,
  );
}

/** Machines sleep and clocks are set: what is left of a pause is looked at this often. */
const LOOK_EVERY_MS = 1000;

/** A pause of a run, in active time. `until`: a time on the wall that ends it before. */
export class Pause {
  readonly #parts: Pick<RunParts, 'time' | 'now'>;
  readonly #end: number;
  readonly #until: number;

  constructor(parts: Pick<RunParts, 'time' | 'now'>, milliseconds: number, until = 0) {
    this.#parts = parts;
    this.#end = parts.time.elapsed() + milliseconds;
    this.#until = until > parts.now() ? until : Number.POSITIVE_INFINITY;
  }

  /** How many milliseconds of it are left, as far as is known; none: it is over. */
  get left(): number {
    const { time, now } = this.#parts;
    return Math.max(0, Math.min(this.#end - time.elapsed(), this.#until - now()));
  }

  /** Waits for a part of what is left. */
  async wait(signal: AbortSignal): Promise<void> {
    await pause(Math.min(this.left, LOOK_EVERY_MS), [signal]);
  }
}
