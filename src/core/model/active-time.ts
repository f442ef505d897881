/** What a process knows about its own time, in milliseconds since some moment. */
export interface Reading {
  /** Of a monotonic clock. */
  readonly at: number;
  /** How long the process ran, or waited for a processor. */
  readonly busy: number;
  /** Whether `busy` includes waiting. If not, a crowded machine looks like a sleeping one. */
  readonly countsWaiting: boolean;
}

/** Readings at most this far apart count in full. */
const LONGEST_BEAT_MS = 1000;
/** Of a longer gap, the time that may have passed before the process was suspended and after it continued. */
const EDGE_MS = 250;
const VAGUE_EDGE_MS = 2000;

/** Sums the time between readings, minus the time in which the process neither ran nor wanted to. */
export class ActiveTimeCount {
  #last: Reading;
  #counted = 0;

  constructor(first: Reading) {
    this.#last = first;
  }

  /** Undefined: the last reading is too old, and a new one is needed. */
  at(time: number): number | undefined {
    const gap = time - this.#last.at;
    return gap <= LONGEST_BEAT_MS ? this.#counted + Math.max(0, gap) : undefined;
  }

  add(next: Reading): number {
    const gap = Math.max(0, next.at - this.#last.at);
    const isAlike = next.countsWaiting === this.#last.countsWaiting;
    const busy = isAlike ? Math.max(0, next.busy - this.#last.busy) : 0;
    const edge = isAlike && next.countsWaiting ? EDGE_MS : VAGUE_EDGE_MS;
    this.#counted += gap <= LONGEST_BEAT_MS ? gap : Math.min(gap, edge + busy);
    this.#last = next;
    return this.#counted;
  }
}
