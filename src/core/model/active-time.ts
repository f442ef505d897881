/** What a process knows about its own time, in milliseconds from any moment. */
export interface Reading {
  /** Of a clock that can't be set. */
  readonly at: number;
  /** For how long the process ran, or waited for a processor. */
  readonly busy: number;
  /** `busy` counts waiting, too; where it does not, a crowded machine looks like one that sleeps. */
  readonly countsWaiting: boolean;
}

/** Readings that are no further apart leave no doubt. */
const LONGEST_BEAT_MS = 1000;
/** Of a longer gap, what may have passed before the process was stopped and after it went on. */
const EDGE_MS = 250;
const VAGUE_EDGE_MS = 2000;

/** Adds up the time between readings, less the time for which the process neither ran nor wanted to. */
export class ActiveTimeCount {
  #last: Reading;
  #counted = 0;

  constructor(first: Reading) {
    this.#last = first;
  }

  /** Undefined: it is too long since the last reading, and another one must tell. */
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
