import type { ShiftReading } from './shift-reader.ts';

/** What the journal knows of each row, for all its tasks; NaN: nothing. It can be made in parts, like the search text. */
export class HistoryNumbers {
  readonly ms: Float64Array;
  readonly cost: Float64Array;
  readonly attempts: Float64Array;
  readonly #items: Pick<ShiftReading, 'snapshot' | 'history'>;
  #rows = 0;

  constructor(items: Pick<ShiftReading, 'snapshot' | 'history'>) {
    const { count } = items.snapshot;
    this.#items = items;
    this.ms = new Float64Array(count).fill(Number.NaN);
    this.cost = new Float64Array(count).fill(Number.NaN);
    this.attempts = new Float64Array(count);
  }

  /** Takes up so many more rows; returns whether that was the last one. */
  extend(rows: number): boolean {
    const { count } = this.#items.snapshot;
    const end = Math.min(this.#rows + rows, count);
    for (; this.#rows < end; this.#rows++) this.#addRow(this.#rows);
    return end === count;
  }

  #addRow(row: number): void {
    const { snapshot, history } = this.#items;
    const id = snapshot.id(row);
    for (const task of snapshot.tasks) {
      const past = history.of(task, id);
      if (!past) continue;
      add(this.ms, row, past.dev?.ms);
      add(this.cost, row, past.usage.costUsd);
      this.attempts[row] = this.attempts[row]! + (past.dev?.attempts ?? past.attempts);
    }
  }
}

function add(sums: Float64Array, row: number, amount: number | undefined): void {
  if (amount !== undefined) sums[row] = (Number.isNaN(sums[row]!) ? 0 : sums[row]!) + amount;
}
