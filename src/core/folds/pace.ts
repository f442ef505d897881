/** How many times are kept. */
const KEPT_TIMES = 200;
/** Many agents print nothing until they finish, so silence is normal for at least this long. */
const SILENT_AT_LEAST_MS = 120_000;
const SLOW_AT_LEAST_MS = 60_000;

/** `slow` takes far longer than others did, `stalled` has been silent for far longer than usual. */
export type Pace = 'usual' | 'slow' | 'stalled';

interface Timed {
  readonly since: number;
  readonly lastSign: number;
}

/** What is usual in a run: how long sessions take, and how long they are silent. */
export class UsualPace {
  #times: number[] = [];
  #longestSilence = 0;

  /** A session took this long. */
  took(ms: number): void {
    this.#times = [...this.#times.slice(1 - KEPT_TIMES), ms];
  }

  /** An agent that succeeded, or is still at work, was silent for this long. */
  wasSilent(ms: number): void {
    this.#longestSilence = Math.max(this.#longestSilence, ms);
  }

  of({ since, lastSign }: Timed, now: number): Pace {
    if (now - lastSign > Math.max(SILENT_AT_LEAST_MS, 1.5 * this.#longestSilence)) return 'stalled';
    const usual = median(this.#times);
    return usual !== undefined && now - since > Math.max(SLOW_AT_LEAST_MS, 3 * usual) ? 'slow' : 'usual';
  }
}

/** Undefined if there are too few. */
function median(times: readonly number[]): number | undefined {
  return times.length < 3 ? undefined : [...times].sort((a, b) => a - b)[times.length >> 1];
}
