import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../../../core/model/errors.ts';
import { LOCK_WAIT_MS, type Lock, lockIfThere, lockWithin } from '../files/flock.ts';

const PATIENCE_MS = 10_000;
const REREAD_MS = 200;

export interface ReadingLockOptions {
  readonly lock: string;
  /** How long a table that does not parse is read again, once a first reading was good (rule F6). */
  readonly patienceMs?: number;
  readonly lockWaitMs?: number;
}

/** The shift's lock, for reading the table and perhaps writing it. */
export class ReadingLock {
  readonly #options: ReadingLockOptions;
  /** The wait happens once, not in each call. */
  #unreadableSince: number | undefined;

  constructor(options: ReadingLockOptions) {
    this.#options = options;
  }

  /**
   * Rule F6: while a shift runs, a table that does not parse may be half saved. It is read again, and meanwhile the
   * lock is free for an editor. `read` returns what is wrong with the table, or false to be called again. Undefined
   * if there is no lock file: the first reading creates none, since the shift may be refused.
   */
  async take(isFirst: boolean, read: () => Promise<boolean | NightshiftError>): Promise<Lock | undefined> {
    const { lock: file, lockWaitMs = LOCK_WAIT_MS, patienceMs = PATIENCE_MS } = this.#options;
    for (;;) {
      const lock = await (isFirst ? lockIfThere : lockWithin)(file, lockWaitMs);
      let keep = false;
      try {
        const found = await read();
        if (found instanceof NightshiftError) this.#lose(found, isFirst ? 0 : patienceMs);
        else this.#unreadableSince = undefined;
        keep = found === true;
      } finally {
        if (!keep) lock?.[Symbol.dispose]();
      }
      if (keep) return lock;
      if (this.#unreadableSince !== undefined) await sleep(REREAD_MS);
    }
  }

  #lose(error: NightshiftError, patienceMs: number): void {
    this.#unreadableSince ??= performance.now();
    if (performance.now() - this.#unreadableSince >= patienceMs) throw error;
  }
}
