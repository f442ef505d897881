import type { Sequence } from '../../src/core/model/model.ts';
import type { Status } from '../../src/core/model/status.ts';
import { CHECKED, type Dispatch, MAX_SIZE, TASKS } from './crash-shift.ts';

export type Board = ReadonlyMap<string, readonly Status[]>;

/** What a write may have done that was not said any more when the kill came. */
const UNSAID: Partial<Record<Status, readonly Status[]>> = {
  in_progress: ['qa', 'failed'],
  qa: ['done', 'failed', 'in_progress'],
};

/** What the table must hold after the events of one run, beginning with what the run found. */
export class Replay {
  /** Of a batch, or the limit of a stream. */
  size: number;
  /** Something was done or failed. */
  hasEnded = false;
  readonly #dispatch: Dispatch;
  readonly #sequence: Sequence;
  readonly #board: Map<string, Status[]>;
  /** The Steps of each task that were in force in this run, the latest last. */
  readonly #versions: Map<string, string[]>;
  readonly #violated: (what: string) => void;
  readonly #sizes: number[];
  readonly #inFlight = new Set<string>();
  #isRecovered = false;
  /** What was claimed and has not finished as a batch. */
  #batch: { task: string; indices: number[] } | undefined;

  constructor(
    { dispatch, sequence, size }: { dispatch: Dispatch; sequence: Sequence; size: number },
    before: Board,
    versions: ReadonlyMap<string, string>,
    violated: (what: string) => void,
  ) {
    this.#dispatch = dispatch;
    this.#sequence = sequence;
    this.size = size;
    this.#sizes = [size];
    this.#board = new Map([...before].map(([task, column]) => [task, [...column]]));
    this.#versions = new Map([...versions].map(([task, version]) => [task, [version]]));
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
        if (!this.#mayBeGiven(task).includes(event.version)) this.#violated(`a dev of ${task} was given other Steps`);
        return;
      case 'qa:started':
        this.#inFlight.add(`${task} ${index}`);
        return;
      case 'item:recorded':
        if (this.#at(task, index) !== event.from) this.#violated(`${task} of row ${index + 1} was not ${event.from}`);
        this.#board.get(task)![index] = event.to;
        if (event.to === 'qa' || event.to === 'in_progress') return;
        this.#inFlight.delete(`${task} ${index}`);
        this.hasEnded = true;
        return;
      case 'steps:changed':
        this.#versions.get(task)!.push(event.to);
        return;
      case 'concurrency:changed':
        this.#limit(event);
        return;
      case 'batch:finished':
        if (event.from !== this.size) this.#violated(`a batch went from size ${event.from}, not ${this.size}`);
        if (event.to !== this.#adapted()) this.#violated(`the size became ${event.to}, not ${this.#adapted()}`);
        this.size = event.to;
        this.#batch = undefined;
        return;
    }
  }

  /** What is really there: what was said, and after a kill perhaps one write more for an item, or a whole claim. */
  compare(after: Board, killed: boolean): void {
    const claimed = new Map<string, number[]>();
    for (const [task, column] of after) {
      for (const [row, is] of column.entries()) {
        const said = this.#at(task, row);
        if (is === said) continue;
        const [what, mayBe] = [`${task} of row ${row + 1}`, this.#unsaid(task, said)];
        if (killed && said === 'todo' && is === 'in_progress') claimed.set(task, [...(claimed.get(task) ?? []), row]);
        else if (killed && !this.#isRecovered && said === 'in_progress' && is === 'todo') continue;
        else if (!killed || !mayBe.includes(is)) this.#violated(`${what} is ${is}, and the run had said ${said}`);
      }
    }
    if (claimed.size > 1) this.#violated('two claims were not said');
    for (const [task, rows] of claimed) this.#checkClaim(task, rows);
  }

  /** What `current-batch-size` may be. It may be written and not said yet; that of a stream is said first, and written later. */
  mayBeWritten(killed: boolean): number[] {
    if (!killed) return [this.size];
    const next = [this.size, Math.max(1, Math.floor(this.size / 2)), Math.min(MAX_SIZE, this.size * 2)];
    return this.#dispatch === 'stream' ? [...this.#sizes, ...next] : next;
  }

  #unsaid(task: string, said: Status): readonly Status[] {
    const isShared = this.#dispatch === 'stream' && task === CHECKED && said === 'in_progress';
    return [...(UNSAID[said] ?? []), ...(isShared ? ['done' as const] : [])];
  }

  /** In a stream lessons are folded in beside what is claimed; also there, nobody is given what was not told of. */
  #mayBeGiven(task: string): readonly string[] {
    const versions = this.#versions.get(task)!;
    return this.#dispatch === 'stream' ? versions : versions.slice(-1);
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
    for (const [of, column] of this.#board) {
      const isJudged = (row: number) => this.#dispatch === 'stream' && this.#inFlight.has(`${of} ${row}`);
      const waits = column.some((status, row) => status === 'qa' && !isJudged(row));
      if (waits) this.#violated('qa was not judged first');
    }
    this.#checkClaim(task, indices);
    for (const row of indices) {
      this.#board.get(task)![row] = 'in_progress';
      this.#inFlight.add(`${task} ${row}`);
    }
    this.#batch = { task, indices };
  }

  #checkClaim(task: string, rows: readonly number[]): void {
    if (this.#dispatch === 'stream') {
      this.#checkRefill(task, rows);
      return;
    }
    const next = this.#nextBatch();
    if (next?.task !== task || next?.rows.join() !== rows.join()) {
      this.#violated(`a batch of ${task}, rows ${rows}; it should have been ${next?.task}, rows ${next?.rows}`);
    }
  }

  /** Rule X7: never more than the limit, what comes first first. A later task's row may have become eligible meanwhile. */
  #checkRefill(task: string, rows: readonly number[]): void {
    const room = this.size - this.#inFlight.size;
    if (rows.length > room) this.#violated(`${rows.length} of ${task} were claimed, and there was room for ${room}`);
    const eligible = this.#eligible(task);
    const isInOrder = task !== TASKS[0] || rows.join() === eligible.slice(0, rows.length).join();
    if (!isInOrder || rows.some((row) => !eligible.includes(row))) {
      this.#violated(`rows ${rows} of ${task} were claimed, and those that could be were ${eligible}`);
    }
    // With `order: rows`, an earlier row may have become eligible for its next task meanwhile.
    const isTaskDue = this.#sequence === 'rows' || task === this.#nextBatch()?.task;
    if (!isTaskDue) this.#violated(`${task} was claimed before ${this.#nextBatch()?.task}`);
  }

  #limit({ from, to, reason }: { from: number; to: number; reason: string }): void {
    if (from !== this.size) this.#violated(`the limit went from ${from}, not ${this.size}`);
    const next = / failed$/.test(reason) ? Math.max(1, Math.floor(from / 2)) : Math.min(MAX_SIZE, from * 2);
    if (to !== next) this.#violated(`the limit became ${to}, not ${next}: ${reason}`);
    this.size = to;
    this.#sizes.push(to);
  }

  /** Rule P2 once more; what was only judged after a resume is no batch. */
  #adapted(): number {
    if (!this.#batch) return this.size;
    const { task, indices } = this.#batch;
    const failed = indices.some((row) => this.#at(task, row) === 'failed');
    return failed ? Math.max(1, Math.floor(this.size / 2)) : Math.min(MAX_SIZE, this.size * 2);
  }

  /** Rules M2-M4, P3 once more, written differently. */
  #nextBatch(): { task: string; rows: number[] } | undefined {
    if (this.#sequence === 'rows') return this.#nextRows();
    for (const task of TASKS) {
      const rows = this.#eligible(task);
      if (rows.length > 0) return { task, rows: rows.slice(0, this.size) };
    }
    return undefined;
  }

  /** A row needs one task at a time. */
  #nextRows(): { task: string; rows: number[] } | undefined {
    const ready = TASKS.flatMap((task) => this.#eligible(task).map((row) => ({ row, task })));
    const first = ready.sort((a, b) => a.row - b.row).slice(0, this.size);
    if (first.length === 0) return undefined;
    const { task } = first[0]!;
    return { task, rows: first.filter((each) => each.task === task).map(({ row }) => row) };
  }

  #eligible(task: string): number[] {
    const names: readonly string[] = TASKS;
    const earlier = names.slice(0, names.indexOf(task));
    return this.#board.get(task)!.flatMap((status, row) => {
      return status === 'todo' && earlier.every((each) => this.#at(each, row) === 'done') ? [row] : [];
    });
  }
}
