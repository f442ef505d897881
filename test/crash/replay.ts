import type { Status } from '../../src/core/status.ts';
import { MAX_SIZE, TASKS } from './crash-shift.ts';

export type Board = ReadonlyMap<string, readonly Status[]>;

/** What a write may have done that was not said any more when the kill came. */
const UNSAID: Partial<Record<Status, readonly Status[]>> = { in_progress: ['qa', 'failed'], qa: ['done', 'failed'] };

/** What the table must hold after the events of one run, beginning with what the run found. */
export class Replay {
  size: number;
  /** How many have finished, those included that only judged. */
  batches = 0;
  readonly #board: Map<string, Status[]>;
  readonly #versions: Map<string, string>;
  readonly #violated: (what: string) => void;
  #isRecovered = false;
  /** What was claimed and has not finished as a batch. */
  #batch: { task: string; indices: number[] } | undefined;

  constructor(before: Board, size: number, versions: ReadonlyMap<string, string>, violated: (what: string) => void) {
    this.size = size;
    this.#board = new Map([...before].map(([task, column]) => [task, [...column]]));
    this.#versions = new Map(versions);
    this.#violated = violated;
  }

  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  follow(event: any): void {
    const { task, index } = event;
    switch (event.type) {
      case 'run:started':
        this.#recover(event.recovered, event.waiting);
        return;
      case 'batch:claimed':
        this.#claim(event);
        return;
      case 'dev:started':
        if (this.#at(task, index) !== 'in_progress')
          this.#violated(`a dev began ${task} of row ${index + 1} unclaimed`);
        if (event.version !== this.#versions.get(task)) this.#violated(`a dev of ${task} was given old Steps`);
        return;
      case 'item:recorded':
        if (this.#at(task, index) !== event.from) this.#violated(`${task} of row ${index + 1} was not ${event.from}`);
        this.#board.get(task)![index] = event.to;
        return;
      case 'steps:changed':
        this.#versions.set(task, event.to);
        return;
      case 'batch:finished':
        if (event.from !== this.size) this.#violated(`a batch went from size ${event.from}, not ${this.size}`);
        if (event.to !== this.#adapted()) this.#violated(`the size became ${event.to}, not ${this.#adapted()}`);
        this.size = event.to;
        this.#batch = undefined;
        this.batches++;
        return;
    }
  }

  /** What is really there: what was said, and after a kill perhaps one write more for an item, or a whole claim. */
  compare(after: Board, killed: boolean): void {
    const claimed: number[] = [];
    for (const [task, column] of after) {
      for (const [row, is] of column.entries()) {
        const said = this.#at(task, row);
        if (is === said) continue;
        const [what, mayBe] = [`${task} of row ${row + 1}`, UNSAID[said] ?? []];
        if (killed && said === 'todo' && is === 'in_progress') claimed.push(row);
        else if (killed && !this.#isRecovered && said === 'in_progress' && is === 'todo') continue;
        else if (!killed || !mayBe.includes(is)) this.#violated(`${what} is ${is}, and the run had said ${said}`);
      }
    }
    if (claimed.length === 0) return;
    const rows = this.#nextBatch()?.rows ?? [];
    if (claimed.join() !== rows.join()) this.#violated(`half a claim: rows ${claimed} of ${rows}`);
  }

  #at(task: string, row: number): Status {
    return this.#board.get(task)![row]!;
  }

  #recover(recovered: number, waiting: number): void {
    this.#isRecovered = true;
    const all = [...this.#board.values()].flat();
    const stale = all.filter((status) => status === 'in_progress').length;
    const atQa = all.filter((status) => status === 'qa').length;
    if (recovered !== stale || waiting !== atQa) {
      this.#violated(`the run said ${recovered} given back and ${waiting} at qa; it was ${stale} and ${atQa}`);
    }
    for (const column of this.#board.values()) {
      for (const [row, status] of column.entries()) if (status === 'in_progress') column[row] = 'todo';
    }
  }

  #claim({ task, indices, size }: { task: string; indices: number[]; size: number }): void {
    if (size !== this.size) this.#violated(`a batch of size ${size}; what was written is ${this.size}`);
    for (const column of this.#board.values()) if (column.includes('qa')) this.#violated('qa was not judged first');
    const next = this.#nextBatch();
    if (next?.task !== task || next?.rows.join() !== indices.join()) {
      this.#violated(`a batch of ${task}, rows ${indices}; it should have been ${next?.task}, rows ${next?.rows}`);
    }
    for (const row of indices) this.#board.get(task)![row] = 'in_progress';
    this.#batch = { task, indices };
  }

  /** Rule P2 once more; what was only judged after a resume is no batch. */
  #adapted(): number {
    if (!this.#batch) return this.size;
    const { task, indices } = this.#batch;
    const failed = indices.some((row) => this.#at(task, row) === 'failed');
    return failed ? Math.max(1, Math.floor(this.size / 2)) : Math.min(MAX_SIZE, this.size * 2);
  }

  /** Rules M3, M4, P3 once more, written differently. */
  #nextBatch(): { task: string; rows: number[] } | undefined {
    for (const [at, task] of TASKS.entries()) {
      const earlier = TASKS.slice(0, at);
      const rows = this.#board.get(task)!.flatMap((status, row) => {
        return status === 'todo' && earlier.every((each) => this.#at(each, row) === 'done') ? [row] : [];
      });
      if (rows.length > 0) return { task, rows: rows.slice(0, this.size) };
    }
    return undefined;
  }
}
