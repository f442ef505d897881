import { setImmediate as nextTurn } from 'node:timers/promises';

/** One change that waits for the next write. `apply` sees what earlier ones in the same write did. */
interface Waiting<Draft> {
  apply(draft: Draft): () => void;
  reject(error: unknown): void;
}

export interface Writer<Draft> {
  /** Takes the lock, and what must be known before anything can change. */
  begin(): Promise<{ draft: Draft } & Disposable>;
  /** Puts the draft durably in place; not called if it has no changes. False: it was made from what is no longer there. */
  write(draft: Draft): Promise<boolean>;
  isChanged(draft: Draft): boolean;
}

/** Changes that wait at the same time share one lock and one write; each is told when it is durable. */
export class WriteQueue<Draft> {
  readonly #writer: Writer<Draft>;
  #waiting: Waiting<Draft>[] = [];
  #draining = false;

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
      this.#waiting.push({ apply, reject });
      if (!this.#draining) void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    this.#draining = true;
    while (this.#waiting.length > 0) {
      await nextTurn();
      let batch: Waiting<Draft>[] = [];
      try {
        using session = await this.#writer.begin();
        batch = this.#waiting.splice(0);
        // Worked out again from what is there now, before anything that came later.
        if (!(await this.#carryOut(batch, session.draft))) this.#waiting.unshift(...batch);
      } catch (error) {
        for (const each of [...batch, ...this.#waiting.splice(0)]) each.reject(error);
      }
    }
    this.#draining = false;
  }

  async #carryOut(batch: readonly Waiting<Draft>[], draft: Draft): Promise<boolean> {
    const commits: (() => void)[] = [];
    for (const each of batch) {
      try {
        commits.push(each.apply(draft));
      } catch (error) {
        each.reject(error);
      }
    }
    if (this.#writer.isChanged(draft) && !(await this.#writer.write(draft))) return false;
    for (const commit of commits) commit();
    return true;
  }
}
