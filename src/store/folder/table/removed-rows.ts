/** A row that is no longer in the table: its metadata, and the code of its status for each task. */
export interface RemovedRow {
  readonly metadata: string;
  readonly statuses: readonly number[];
}

/** Beyond this many rows, the oldest are forgotten. */
const MOST_ROWS = 1 << 18;

/**
 * Rows that others removed during a run. A table saved in two pieces lacks rows for a moment: when they return, they
 * keep their statuses.
 */
export class RemovedRows {
  readonly #rows = new Map<string, RemovedRow[]>();
  #count = 0;

  add(row: RemovedRow): void {
    const twins = this.#rows.get(row.metadata);
    if (twins) twins.push(row);
    else this.#rows.set(row.metadata, [row]);
    if (++this.#count > MOST_ROWS) this.#forgetOldest();
  }

  /** Those with this metadata. */
  find(metadata: string): readonly RemovedRow[] {
    return this.#rows.get(metadata) ?? [];
  }

  /** It is in the table again. */
  forget(row: RemovedRow): void {
    const twins = this.#rows.get(row.metadata) ?? [];
    const rest = twins.filter((each) => each !== row);
    this.#count -= twins.length - rest.length;
    if (rest.length > 0) this.#rows.set(row.metadata, rest);
    else this.#rows.delete(row.metadata);
  }

  texts(): string[] {
    return [...this.#rows.keys()];
  }

  #forgetOldest(): void {
    const [oldest] = this.#rows.values().next().value ?? [];
    if (oldest) this.forget(oldest);
  }
}
