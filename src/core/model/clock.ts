/** The only source of time for the engine: a process has a real one, a test a simulated one. */
export interface Clock {
  /** The wall clock, in milliseconds since 1970. It can be set, and runs while the machine sleeps. */
  now(): number;
  /**
   * Active time, in milliseconds since some moment. It can't be set, and stops while the machine sleeps or the
   * process is suspended. Timeouts, `max-duration` and `patience` use it; `until` follows the wall clock.
   */
  elapsed(): number;
  /** Waits. Resolves to false as soon as the signal aborts; never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean>;
  /** Aborts its signal after this much active time, unless it is disposed before. */
  timeout(milliseconds: number): Timeout;
}

export interface Timeout extends Disposable {
  readonly signal: AbortSignal;
}
