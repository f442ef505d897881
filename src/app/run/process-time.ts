import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActiveTimeCount, type Reading } from '../../core/model/active-time.ts';
import type { Clock, Timeout } from '../../core/model/clock.ts';

/** Often enough that a gap between two beats stands out. */
const BEAT_MS = 250;
/** A timer of Node can't be longer than 25 days. */
const LONGEST_TIMER_MS = 24 * 3600_000;

let time: ProcessTime | undefined;

/** The active time of this process; it counts from the first call on. */
export function processTime(): Pick<Clock, 'elapsed'> {
  return startTime();
}

/** `now`: the wall clock. */
export function processClock(now: () => number): Clock {
  const active = startTime();
  return {
    now,
    elapsed: () => active.elapsed(),
    sleep: (milliseconds, signal) =>
      sleep(Math.min(milliseconds, LONGEST_TIMER_MS), true, signal ? { signal } : {}).catch(() => false),
    timeout: (milliseconds) => active.timeout(milliseconds),
  };
}

function startTime(): ProcessTime {
  time ??= new ProcessTime();
  return time;
}

class ProcessTime {
  readonly #count = new ActiveTimeCount(read());

  constructor() {
    setInterval(() => this.#count.add(read()), BEAT_MS).unref();
  }

  elapsed(): number {
    return this.#count.at(performance.now()) ?? this.#count.add(read());
  }

  timeout(milliseconds: number): Timeout {
    const over = new AbortController();
    const end = this.elapsed() + milliseconds;
    let timer: NodeJS.Timeout | undefined;
    const look = () => {
      const left = end - this.elapsed();
      // A timer that comes due while the process is stopped fires as soon as it continues.
      if (left > 0) timer = setTimeout(look, Math.min(Math.ceil(left), LONGEST_TIMER_MS)).unref();
      else over.abort(new DOMException('the time is over', 'TimeoutError'));
    };
    look();
    return { signal: over.signal, [Symbol.dispose]: () => clearTimeout(timer) };
  }
}

function read(): Reading {
  const at = performance.now();
  try {
    // Nanoseconds of the main thread: on a processor, and waiting for one.
    const [ran = 0, waited = 0] = readFileSync('/proc/self/schedstat', 'latin1').split(' ').map(Number);
    return { at, busy: (ran + waited) / 1e6, countsWaiting: true };
  } catch {
    const { user, system } = process.cpuUsage();
    return { at, busy: (user + system) / 1000, countsWaiting: false };
  }
}
