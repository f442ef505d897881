/** An item-task that is given back this often, with others done in between, fails. */
const RETURNED_AT_MOST = 3;

interface Cell {
  readonly id: string;
  readonly task: string;
}

interface ReturnRecord extends Cell {
  /** How often it was given back; a time counts only if other items got done since the one before. */
  readonly times: number;
  /** How many other items were done when it last started. */
  readonly doneBefore: number;
  /** How many had ended, done or not, when it was last given back. */
  readonly endedBefore: number;
}

/**
 * Rule X5: the item-tasks of a run that asked to try later (exit code 75). The trouble may affect all items or only
 * this one; whether others get done meanwhile shows which.
 */
export class Returns {
  readonly #cells = new Map<string, ReturnRecord>();
  #done = 0;
  #ended = 0;

  /** The number of items of this run that are done. Pass the value at the start of an item to `givenBack`. */
  get done(): number {
    return this.#done;
  }

  ended(cell: Cell, end: 'done' | 'failed'): void {
    this.#ended++;
    if (end === 'done') this.#done++;
    this.#cells.delete(nameOf(cell));
  }

  givenBack(cell: Cell, doneBefore: number): void {
    const last = this.#cells.get(nameOf(cell));
    const isCounted = !last || last.doneBefore < this.#done;
    const times = (last?.times ?? 0) + (isCounted ? 1 : 0);
    this.#cells.set(nameOf(cell), { ...cell, times, doneBefore, endedBefore: this.#ended });
  }

  /** Whether asking to try later once more fails the item. */
  isLastChance(cell: Cell): boolean {
    const last = this.#cells.get(nameOf(cell));
    return last !== undefined && last.times >= RETURNED_AT_MOST - 1 && last.doneBefore < this.#done;
  }

  /** The items that let others go first, until one of those has ended. */
  get deferred(): string[] {
    return [...this.#cells.values()].filter(({ endedBefore }) => endedBefore === this.#ended).map(({ id }) => id);
  }
}

function nameOf({ id, task }: Cell): string {
  return `${task} ${id}`;
}
