/** An item-task that is claimed and has not ended. */
interface Entry {
  readonly token: string;
  readonly task: string;
  /** The id of the item. */
  readonly id: string;
  /** Its row's name, if it has one. */
  readonly label?: string | undefined;
}

/** The one record of running items: from claim to end, including the time between dev and qa. */
export class Running {
  readonly #entries = new Map<string, Entry>();
  readonly #labels = new Map<string, string>();

  get size(): number {
    return this.#entries.size;
  }

  get entries(): Iterable<Entry> {
    return this.#entries.values();
  }

  /** The ids of the items. */
  get items(): string[] {
    return [...this.#entries.values()].map(({ id }) => id);
  }

  /** The label of a running item. */
  labelOf(item: string): string | undefined {
    return this.#labels.get(item);
  }

  begin(entry: Entry): void {
    this.#entries.set(entry.token, entry);
    if (entry.label !== undefined) this.#labels.set(entry.id, entry.label);
  }

  end({ token, id }: Pick<Entry, 'token' | 'id'>): void {
    this.#entries.delete(token);
    this.#labels.delete(id);
  }
}
