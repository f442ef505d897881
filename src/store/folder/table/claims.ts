import { randomBytes } from 'node:crypto';
import type { Status } from '../../../core/model/status.ts';
import type { ItemTask } from '../../store.ts';

export interface Held extends ItemTask {
  readonly token: string;
  status: Status;
}

/** Who holds which item-task (rule T8): one current token for each, void once it is forgotten. */
export class Claims {
  readonly #byToken = new Map<string, Held>();
  readonly #byCell = new Map<string, Held>();
  readonly #doneHere = new Set<string>();

  static newToken(): string {
    return randomBytes(12).toString('hex');
  }

  add(held: Held): void {
    this.#byToken.set(held.token, held);
    this.#byCell.set(cellKey(held), held);
  }

  find(token: string): Held | undefined {
    return this.#byToken.get(token);
  }

  holderOf(cell: ItemTask): Held | undefined {
    return this.#byCell.get(cellKey(cell));
  }

  all(): Iterable<Held> {
    return this.#byToken.values();
  }

  get count(): number {
    return this.#byToken.size;
  }

  forget(held: Held): void {
    this.#byToken.delete(held.token);
    this.#byCell.delete(cellKey(held));
  }

  /** A `done` of this run is nobody's to take back but by a command (rule D5). */
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
