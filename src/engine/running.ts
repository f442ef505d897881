/** An item-task that is claimed and has not ended. */
interface Entry {
  readonly token: string;
  /** The id of the item. */
  readonly id: string;
}

/** The one record of running items: from claim to end, including the time between dev and qa. */
export class Running {
  readonly #entries = new Map<string, Entry>();

  get size(): number {
    return this.#entries.size;
  }

  /** The ids of the items. */
  get items(): string[] {
    return [...this.#entries.values()].map(({ id }) => id);
  }

  begin(entry: Entry): void {
    this.#entries.set(entry.token, entry);
  }

  end({ token }: Pick<Entry, 'token'>): void {
    this.#entries.delete(token);
  }
}
