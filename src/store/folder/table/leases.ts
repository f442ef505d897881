import type { ItemLease, ItemTask } from '../../store.ts';

/**
 * The leases of this process (rule T8): one valid token for each item-task. They live in memory only. The run lock lets
 * one process at a time claim, so the leases of a run are over when its process is gone.
 */
export class Leases {
  readonly #byToken = new Map<string, ItemLease>();
  readonly #byCell = new Map<string, ItemLease>();
  readonly #doneHere = new Set<string>();

  /** Replaces the lease that the item-task had, if any. */
  add({ id, task, token, owner, expiresAt }: ItemLease): void {
    const lease = { id, task, token, owner, expiresAt };
    const before = this.of(lease);
    if (before) this.end(before);
    this.#byToken.set(token, lease);
    this.#byCell.set(cellKey(lease), lease);
  }

  find(token: string): ItemLease | undefined {
    return this.#byToken.get(token);
  }

  of(cell: ItemTask): ItemLease | undefined {
    return this.#byCell.get(cellKey(cell));
  }

  all(): Iterable<ItemLease> {
    return this.#byToken.values();
  }

  get count(): number {
    return this.#byToken.size;
  }

  end(lease: ItemLease): void {
    this.#byToken.delete(lease.token);
    this.#byCell.delete(cellKey(lease));
  }

  /** A `done` of this run can only be taken back by a command (rule D5). */
  markDone(cell: ItemTask): void {
    this.#doneHere.add(cellKey(cell));
  }

  unmarkDone(cell: ItemTask): void {
    this.#doneHere.delete(cellKey(cell));
  }

  isDoneHere(cell: ItemTask): boolean {
    return this.#doneHere.has(cellKey(cell));
  }
}

function cellKey({ id, task }: ItemTask): string {
  return `${task} ${id}`;
}
