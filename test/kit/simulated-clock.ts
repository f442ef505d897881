import type { Clock, Timeout } from '../../src/core/model/clock.ts';

interface Entry {
  readonly at: number;
  wake: () => void;
  /** Its sleep was ended: time does not stop here. */
  isOver: boolean;
}

/** Turns of the event loop in which no promise settles and nobody waits for a time. */
const MOST_IDLE_TURNS = 1000;

/** No work that is simulated takes as long as this. */
const LONGEST_MS = 10 * 24 * 3600_000;

/** Time that jumps: as soon as nothing else can happen, it is the time of the next wait that ends. */
export class SimulatedClock implements Clock {
  #now: number;
  /** A binary heap by time. */
  readonly #waiting: Entry[] = [];

  constructor(now = 0) {
    this.#now = now;
  }

  readonly now = (): number => this.#now;
  readonly elapsed = this.now;

  /** Resolves at its time, or as soon as the signal aborts. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const entry = { at: this.#now + milliseconds, wake: () => {}, isOver: false };
      const end = (isOver: boolean) => {
        entry.isOver = true;
        signal?.removeEventListener('abort', stop);
        resolve(isOver);
      };
      const stop = () => end(false);
      entry.wake = () => end(true);
      signal?.addEventListener('abort', stop);
      this.#push(entry);
    });
  }

  timeout(milliseconds: number): Timeout {
    const over = new AbortController();
    const disposed = new AbortController();
    void this.sleep(milliseconds, disposed.signal).then((isOver) => isOver && over.abort());
    return { signal: over.signal, [Symbol.dispose]: () => disposed.abort() };
  }

  /**
   * Carries out work whose every wait is one of this clock's. Between two turns of the event loop all promises have
   * settled as far as they can; then only time is left to wait for.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    let isRunning = true;
    const latest = this.#now + LONGEST_MS;
    const stuck = new Promise<never>((_, reject) => {
      const advance = (idle: number) => {
        if (!isRunning) return;
        const next = this.#next();
        if (next) {
          this.#now = next.at;
          next.wake();
        }
        if (this.#now > latest) reject(new Error('the work does not end'));
        if (idle > MOST_IDLE_TURNS) reject(new Error('the work waits for something that never happens'));
        setImmediate(advance, next ? 0 : idle + 1);
      };
      setImmediate(advance, 0);
    });
    return Promise.race([work(), stuck]).finally(() => {
      isRunning = false;
    });
  }

  #next(): Entry | undefined {
    let next = this.#pop();
    while (next?.isOver) next = this.#pop();
    return next;
  }

  #push(entry: Entry): void {
    const heap = this.#waiting;
    let at = heap.push(entry) - 1;
    while (at > 0 && heap[(at - 1) >> 1]!.at > entry.at) {
      heap[at] = heap[(at - 1) >> 1]!;
      at = (at - 1) >> 1;
    }
    heap[at] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#waiting;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++;
      if (child >= heap.length || heap[child]!.at >= last.at) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
