import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** A caller that waits for the lock. */
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
  /** Writes the draft durably; not called without changes. False if what it was made from is no longer there. */
  write(draft: Draft): Promise<boolean>;
  isChanged(draft: Draft): boolean;
  /** Whether the known state is still current. Called while the lock is held. */
  isCurrent(): boolean;
  /** Whether more callers than this may come soon and share a write. */
  expectsMoreThan(waiting: number): boolean;
}

/** A write waits for this share of the last write's duration, so that more changes join it, but at most for: */
const GATHER = 1 / 4;
const GATHER_AT_MOST_MS = 50;
/** Writes faster than this are not worth sharing. */
const FAST_MS = 8;

/** Changes that wait at the same time share one lock and one write. Each resolves when it is durable. */
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

  /** `prepare` computes one change. The function it returns runs when the change is durable. */
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

  /** `look` sees the durable state. It does not wait for our own write in progress. */
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
        // Computed again from the current state, before later changes.
        if (!(await this.#carryOut(batch, session.draft))) this.#changes.unshift(...batch);
      } catch (error) {
        for (const each of [...batch, ...this.#changes.splice(0), ...this.#reads.splice(0)]) each.reject(error);
      } finally {
        this.#isHeld = false;
      }
    }
    this.#draining = false;
  }

  /** Items that started together end together, so their records share a write. */
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
