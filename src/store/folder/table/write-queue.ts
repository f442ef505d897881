import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** Somebody who waits for the lock. */
interface Waiting {
  reject(error: unknown): void;
}

/** One change that waits for the next write. `apply` sees what earlier ones in the same write did. */
interface WaitingChange<Draft> extends Waiting {
  apply(draft: Draft): () => void;
}

interface WaitingRead extends Waiting {
  answer(): void;
}

export interface Writer<Draft> {
  /** Takes the lock, and what must be known before anything can change. */
  begin(): Promise<{ draft: Draft } & Disposable>;
  /** Puts the draft durably in place; not called if it has no changes. False: it was made from what is no longer there. */
  write(draft: Draft): Promise<boolean>;
  isChanged(draft: Draft): boolean;
  /** Whether what is known is still what is there; asked while the lock is held. */
  isCurrent(): boolean;
  /** Whether somebody may come soon who could share a write with so many. */
  expectsMoreThan(waiting: number): boolean;
}

/** A write is held back for this part of what the last one took, so that more changes share it, but not for longer than: */
const GATHER = 1 / 4;
const GATHER_AT_MOST_MS = 50;
/** What is written as fast as this need not be shared. */
const FAST_MS = 8;

/** Changes that wait at the same time share one lock and one write; each is told when it is durable. */
export class WriteQueue<Draft> {
  readonly #writer: Writer<Draft>;
  #changes: WaitingChange<Draft>[] = [];
  #reads: WaitingRead[] = [];
  #draining = false;
  #isHeld = false;
  #lastWriteMs = 0;

  constructor(writer: Writer<Draft>) {
    this.#writer = writer;
  }

  /** `prepare` works out one change; what it returns runs when the change is durably in place. */
  add<T>(prepare: (draft: Draft) => () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const apply = (draft: Draft) => {
        const commit = prepare(draft);
        return () => resolve(commit());
      };
      this.#changes.push({ apply, reject });
      this.#drainSoon();
    });
  }

  /** `look` sees what is durably in place. It does not wait for a write of ours that is under way and not done. */
  read<T>(look: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const answer = () => {
        try {
          resolve(look());
        } catch (error) {
          reject(error);
        }
      };
      if (this.#isHeld && this.#writer.isCurrent()) return answer();
      this.#reads.push({ answer, reject });
      this.#drainSoon();
    });
  }

  #drainSoon(): void {
    if (!this.#draining) void this.#drain();
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#changes.length + this.#reads.length > 0) {
      await nextTurn();
      let batch: WaitingChange<Draft>[] = [];
      try {
        using session = await this.#writer.begin();
        this.#isHeld = true;
        for (const read of this.#reads.splice(0)) read.answer();
        await this.#gather();
        batch = this.#changes.splice(0);
        // Worked out again from what is there now, before anything that came later.
        if (!(await this.#carryOut(batch, session.draft))) this.#changes.unshift(...batch);
      } catch (error) {
        for (const each of [...batch, ...this.#changes.splice(0), ...this.#reads.splice(0)]) each.reject(error);
      } finally {
        this.#isHeld = false;
      }
    }
    this.#draining = false;
  }

  /** Items that were begun together end together: what the first records can go out with what the others do. */
  async #gather(): Promise<void> {
    const waiting = this.#changes.length;
    if (waiting === 0 || this.#lastWriteMs < FAST_MS || !this.#writer.expectsMoreThan(waiting)) return;
    await sleep(Math.min(this.#lastWriteMs * GATHER, GATHER_AT_MOST_MS));
  }

  async #carryOut(batch: readonly WaitingChange<Draft>[], draft: Draft): Promise<boolean> {
    const commits: (() => void)[] = [];
    for (const each of batch) {
      try {
        commits.push(each.apply(draft));
      } catch (error) {
        each.reject(error);
      }
    }
    if (this.#writer.isChanged(draft)) {
      const started = performance.now();
      if (!(await this.#writer.write(draft))) return false;
      this.#lastWriteMs = performance.now() - started;
    }
    for (const commit of commits) commit();
    return true;
  }
}
