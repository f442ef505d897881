import { readFileSync } from 'node:fs';
import { type ActiveTime, ActiveTimeCount, type Reading, type TimeLimit } from '../../core/model/active-time.ts';

/** Often enough that a gap between two beats stands out. */
const BEAT_MS = 250;
/** Timers of Node can't be longer than 25 days. */
const LONGEST_TIMER_MS = 3600_000;

let time: ProcessTime | undefined;

/** The active time of this process; counted from the first call on. */
export function processTime(): ActiveTime {
  time ??= new ProcessTime();
  return time;
}

class ProcessTime implements ActiveTime {
  readonly #count = new ActiveTimeCount(read());

  constructor() {
    setInterval(() => this.#count.add(read()), BEAT_MS).unref();
  }

  elapsed(): number {
    return this.#count.at(performance.now()) ?? this.#count.add(read());
  }

  limit(milliseconds: number): TimeLimit {
    const over = new AbortController();
    const end = this.elapsed() + milliseconds;
    let timer: NodeJS.Timeout | undefined;
    const look = () => {
      const left = end - this.elapsed();
      // A timer that comes due while the process is stopped fires as soon as it goes on.
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
