import type { Clock, Timeout } from '../core/model/clock.ts';

/**
 * The clock of a run: time during which the run is paused and nothing runs does not count as active (rule X6).
 * Timeouts go on: only what runs has them.
 */
export class RunClock implements Clock {
  readonly #clock: Clock;
  #heldMs = 0;
  #heldAt: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  elapsed(): number {
    return (this.#heldAt ?? this.#clock.elapsed()) - this.#heldMs;
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    return this.#clock.sleep(milliseconds, signal);
  }

  timeout(milliseconds: number): Timeout {
    return this.#clock.timeout(milliseconds);
  }

  /** Until it is disposed, time does not count; at most one holds it at a time. */
  hold(): Disposable {
    const heldAt = this.#clock.elapsed();
    this.#heldAt = heldAt;
    return {
      [Symbol.dispose]: () => {
        this.#heldMs += this.#clock.elapsed() - heldAt;
        this.#heldAt = undefined;
      },
    };
  }
}
