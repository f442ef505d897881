/** Time that jumps: it goes on to the next thing that is waited for as soon as nothing else can happen. */
export class SimulatedClock {
  #now = 0;
  #isRunning = false;
  /** A binary heap by time. */
  readonly #waiting: { readonly at: number; readonly wake: () => void }[] = [];

  readonly now = (): number => this.#now;

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => this.#push({ at: this.#now + milliseconds, wake }));
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
      const next = this.#pop();
      if (next) {
        this.#now = next.at;
        next.wake();
      }
      setImmediate(advance);
    };
    setImmediate(advance);
    return result;
  }

  #push(entry: { at: number; wake: () => void }): void {
    const heap = this.#waiting;
    let at = heap.push(entry) - 1;
    while (at > 0 && heap[(at - 1) >> 1]!.at > entry.at) {
      heap[at] = heap[(at - 1) >> 1]!;
      at = (at - 1) >> 1;
    }
    heap[at] = entry;
  }

  #pop(): { at: number; wake: () => void } | undefined {
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
