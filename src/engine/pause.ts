import type { Clock } from '../core/model/clock.ts';

/** Machines sleep and clocks are set: a run checks this often how much of a pause is left. */
const LOOK_EVERY_MS = 1000;

/** A pause of a run, in active time. `until`: a wall-clock time that ends it earlier. */
export class Pause {
  readonly #clock: Clock;
  readonly #end: number;
  readonly #until: number;

  constructor(clock: Clock, milliseconds: number, until = 0) {
    this.#clock = clock;
    this.#end = clock.elapsed() + milliseconds;
    this.#until = until > clock.now() ? until : Number.POSITIVE_INFINITY;
  }

  /** In milliseconds; 0: the pause is over. */
  get left(): number {
    return Math.max(0, Math.min(this.#end - this.#clock.elapsed(), this.#until - this.#clock.now()));
  }

  /** Waits for a part of the remaining time. */
  async wait(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(Math.min(this.left, LOOK_EVERY_MS), signal);
  }
}
