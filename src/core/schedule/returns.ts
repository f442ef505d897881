/** An item-task that is given back so often, with others done in between, is failed. */
const RETURNED_AT_MOST = 3;

interface Cell {
  readonly id: string;
  readonly task: string;
}

interface ReturnRecord extends Cell {
  /** Times that count: others were done since the time before. */
  readonly times: number;
  /** How many others were done when it was begun the last time. */
  readonly doneBefore: number;
  /** How many had ended, however, when it was given back the last time. */
  readonly endedBefore: number;
}

/**
 * Rule X5: the item-tasks of a run whose own program asked to try later (exit code 75). That may be trouble of
 * everybody, or of this item alone: others that are done meanwhile tell which.
 */
export class Returns {
  readonly #cells = new Map<string, ReturnRecord>();
  #done = 0;
  #ended = 0;

  /** Items of this run that are done: what `givenBack` is told about the moment at which an item began. */
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

  /** Whether the next time that it asks to try later is one too many. */
  isLastChance(cell: Cell): boolean {
    const last = this.#cells.get(nameOf(cell));
    return last !== undefined && last.times >= RETURNED_AT_MOST - 1 && last.doneBefore < this.#done;
  }

  /** The items that give way to others, until one of these has ended. */
  get deferred(): string[] {
    return [...this.#cells.values()].filter(({ endedBefore }) => endedBefore === this.#ended).map(({ id }) => id);
  }
}

function nameOf({ id, task }: Cell): string {
  return `${task} ${id}`;
}
