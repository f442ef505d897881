import type { Clock, Timeout } from '../src/core/model/clock.ts';

interface Entry {
  readonly at: number;
  wake: () => void;
  /** Its sleep was ended: time does not stop here. */
  isOver: boolean;
}

/** Time that jumps: as soon as nothing else can happen, it is the time of the next wait that ends. */
export class SimulatedClock implements Clock {
  #now = 0;
  #isRunning = false;
  /** A binary heap by time. */
  readonly #waiting: Entry[] = [];

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
    this.#isRunning = true;
    const result = work().finally(() => {
      this.#isRunning = false;
    });
    const advance = () => {
      if (!this.#isRunning) return;
      let next = this.#pop();
      while (next?.isOver) next = this.#pop();
      if (next) {
        this.#now = next.at;
        next.wake();
      }
      setImmediate(advance);
    };
    setImmediate(advance);
    return result;
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
