import { NightshiftError } from '../../core/model/errors.ts';
import type { Emit } from '../../core/model/events.ts';
import { isOver, type LeaseTerms } from '../../core/model/lease.ts';
import { mayWrite, type Status, writerOf } from '../../core/model/status.ts';
import type { Change, Claim, ItemLease, ItemTask, Outputs, Snapshot, Store, WriteResult } from '../store.ts';
import { ID, type Row, snapshotOf, statusIn } from './rows.ts';

/** Why the run lost an item. `to`: its status now; null if its row is gone. */
interface Withdrawal {
  readonly to: Status | null;
  readonly reason: string;
}

/**
 * The store without a folder: plain objects, no lock, no file. It does what the contract asks for and nothing else. It
 * shares no code with the folder store, so that a mistake in one is not a mistake in both.
 */
export class MemoryStore implements Store {
  #rows: Row[];
  #tasks: readonly string[];
  #outputs: ReadonlyMap<string, readonly string[]>;
  readonly #emit: Emit;
  #leases: ItemLease[] = [];
  #doneHere: ItemTask[] = [];
  /** As they were when they were removed. */
  #removed: Row[] = [];
  #changes: Change[] = [];
  #count = 0;

  constructor(options: {
    rows: readonly Record<string, string>[];
    tasks: readonly string[];
    outputs?: ReadonlyMap<string, readonly string[]>;
    emit?: Emit;
  }) {
    this.#rows = options.rows.map((row) => this.#named(row));
    this.#tasks = options.tasks;
    this.#outputs = options.outputs ?? new Map();
    this.#emit = options.emit ?? (() => {});
  }

  async prepare(tasks: readonly string[], outputs: ReadonlyMap<string, readonly string[]>): Promise<void> {
    for (const task of tasks) {
      const missing = this.#rows.some((row) => row[task] === undefined);
      if (missing) throw new NightshiftError('bad-table', `the table has no column ${task}`);
    }
    this.#tasks = tasks;
    this.#outputs = outputs;
    for (const name of [...outputs.values()].flat()) this.#addColumn(name);
  }

  async snapshot(): Promise<Snapshot> {
    return snapshotOf(this.rows(), this.#tasks);
  }

  async claim(task: string, ids: readonly string[], terms: LeaseTerms): Promise<Claim[]> {
    this.#requireTask(task);
    const claims: Claim[] = [];
    for (const id of ids) {
      const row = this.#find(id);
      const before = this.#leaseOf({ id, task });
      if (!row || (before && !isOver(before, terms.now))) continue;
      if (statusIn(row, task) === 'todo') row[task] = 'in_progress';
      else if (row[task] !== 'qa') continue;
      this.#withdraw(before, taken(row[task] as Status));
      claims.push(this.#lease(row, task, terms));
    }
    return claims;
  }

  async adopt({ id, task }: ItemTask, terms: LeaseTerms): Promise<Claim | undefined> {
    const row = this.#find(id);
    if (!row || (row[task] !== 'in_progress' && row[task] !== 'qa')) return undefined;
    this.#end(this.#leaseOf({ id, task }));
    return this.#lease(row, task, terms);
  }

  async renew(tokens: readonly string[], expiresAt: number): Promise<string[]> {
    this.#leases = this.#leases.map((lease) => (tokens.includes(lease.token) ? { ...lease, expiresAt } : lease));
    return tokens.filter((token) => !this.#leases.some((lease) => lease.token === token));
  }

  async leases(): Promise<ItemLease[]> {
    return [...this.#leases];
  }

  async giveBackStale(now: number): Promise<number> {
    let count = 0;
    for (const row of this.#rows) {
      for (const task of this.#tasks) {
        const lease = this.#leaseOf({ id: row[ID]!, task });
        if (row[task] !== 'in_progress' || (lease && !isOver(lease, now))) continue;
        row[task] = 'todo';
        this.#withdraw(lease, taken('todo'));
        count++;
      }
    }
    return count;
  }

  async record(token: string, from: Status, to: Status, outputs: Outputs = {}, reason?: string): Promise<WriteResult> {
    if (!mayWrite(writerOf(from, to), from, to)) {
      throw new NightshiftError('bad-transition', `a status does not go from ${from} to ${to}`);
    }
    const lease = this.#leases.find((each) => each.token === token);
    if (!lease) return { ok: false, why: 'the token is not the current one' };
    const row = this.#find(lease.id);
    if (!row) return { ok: false, why: 'the row is gone' };
    if (statusIn(row, lease.task) !== from) return { ok: false, why: `its status is ${row[lease.task]}, not ${from}` };
    row[lease.task] = to;
    for (const [name, value] of Object.entries(outputs)) {
      this.#addColumn(name);
      row[name] = value;
    }
    if (to !== 'qa' && to !== 'in_progress') this.#end(lease);
    if (to === 'done') this.#doneHere.push({ id: lease.id, task: lease.task });
    this.#emit({
      type: 'item:recorded',
      ...this.#subject(lease),
      from,
      to,
      ...(reason === undefined ? {} : { reason }),
    });
    return { ok: true };
  }

  async release(token: string, reason: string): Promise<WriteResult> {
    const lease = this.#leases.find((each) => each.token === token);
    if (!lease) return { ok: false, why: 'the token is not the current one' };
    const row = this.#find(lease.id);
    if (row?.[lease.task] === 'in_progress') row[lease.task] = 'todo';
    this.#end(lease);
    this.#emit({ type: 'item:returned', ...this.#subject(lease), reason });
    return { ok: true };
  }

  async reset(cells: readonly ItemTask[]): Promise<number> {
    let count = 0;
    for (const cell of cells) {
      this.#requireTask(cell.task);
      const row = this.#find(cell.id);
      this.#end(this.#leaseOf(cell));
      this.#forgetDone(cell);
      if (!row || statusIn(row, cell.task) === 'todo') continue;
      row[cell.task] = 'todo';
      count++;
    }
    return count;
  }

  async changes(): Promise<Change[]> {
    return this.#changes.splice(0);
  }

  /** What is in memory can always be read. */
  async restore(): Promise<undefined> {}

  /** A copy of the rows, as an editor reads them. */
  rows(): Row[] {
    return this.#rows.map((row) => ({ ...row }));
  }

  /** You edit the table with another program: `change` gets the rows and returns what is saved. */
  edit(change: (rows: Row[]) => Row[]): void {
    const before = this.#rows;
    const saved = change(this.rows());
    const isCopy = (row: Row, i: number) => saved.findIndex((each) => each[ID] === row[ID]) < i;
    const after = saved.map((row, i) => (row[ID] === undefined || isCopy(row, i) ? this.#named(row) : row));
    this.#rows = after;
    const edits = before.flatMap((was) => {
      const now = after.find((row) => row[ID] === was[ID]);
      const changed = now ? this.#watched().filter((task) => statusIn(was, task) !== statusIn(now, task)) : [];
      return changed.map((task) => ({ was, now: now!, cell: { id: was[ID]!, task } }));
    });
    const takenBack = edits.filter(
      ({ now, cell }) => this.#leaseOf(cell) && statusIn(now, cell.task) === 'todo',
    ).length;
    const isOldCopy =
      edits.some(({ cell }) => this.#isDoneHere(cell)) || (takenBack > 1 && takenBack === this.#leases.length);
    for (const { was, now, cell } of edits) {
      const { task } = cell;
      const to = statusIn(now, task);
      if (isOldCopy || ['in_progress', 'qa', 'done'].includes(to)) {
        now[task] = was[task]!;
        const outputs = this.#isDoneHere(cell) ? (this.#outputs.get(task) ?? []) : [];
        for (const name of outputs) now[name] = was[name]!;
        this.#putBack(`row ${after.indexOf(now) + 1}: ${task} from ${was[task]} to ${to}`);
      } else {
        this.#withdraw(this.#leaseOf(cell), setTo(to));
      }
    }
    const gone = this.#leases.filter((lease) => !this.#find(lease.id));
    for (const row of after) {
      if (before.some((was) => was[ID] === row[ID])) continue;
      const removed = this.#removed.find((each) => each[ID] === row[ID]);
      for (const task of this.#tasks) {
        const claimed = statusIn(row, task);
        if (claimed === 'todo' || (claimed !== 'in_progress' && removed?.[task] === claimed)) continue;
        this.#putBack(`new row ${after.indexOf(row) + 1}: ${task} from todo to ${row[task]}`);
        row[task] = 'todo';
      }
    }
    this.#removed = [...this.#removed, ...before].filter(({ [ID]: id }) => !after.some((row) => row[ID] === id));
    for (const lease of gone) {
      const index = before.findIndex((row) => row[ID] === lease.id);
      this.#withdraw(lease, { to: null, reason: 'its row was removed' }, { index });
    }
  }

  /** You change a status with a command. It counts, unless it would pass an item that is running. */
  command(row: number, task: string, to: Status): void {
    const changed = this.#rows[row]!;
    const cell = { id: changed[ID]!, task };
    if (this.#leaseOf(cell) && ['in_progress', 'qa', 'done'].includes(to)) {
      this.#putBack(`row ${row + 1}: ${task} from ${changed[task]} to ${to}`);
      return;
    }
    changed[task] = to;
    this.#forgetDone(cell);
    this.#withdraw(this.#leaseOf(cell), setTo(to));
  }

  #lease(row: Row, task: string, { owner, expiresAt }: LeaseTerms): Claim {
    const lease = { id: row[ID]!, task, token: `token-${++this.#count}`, owner, expiresAt };
    this.#leases.push(lease);
    return { ...lease, row: this.#rows.indexOf(row), status: row[task] as Status };
  }

  #named(row: Record<string, string>): Row {
    return { ...row, [ID]: `item-${++this.#count}` };
  }

  #find(id: string): Row | undefined {
    return this.#rows.find((row) => row[ID] === id);
  }

  #leaseOf({ id, task }: ItemTask): ItemLease | undefined {
    return this.#leases.find((lease) => lease.id === id && lease.task === task);
  }

  #end(lease: ItemLease | undefined): void {
    this.#leases = this.#leases.filter((each) => each !== lease);
  }

  #isDoneHere({ id, task }: ItemTask): boolean {
    return this.#doneHere.some((cell) => cell.id === id && cell.task === task);
  }

  #forgetDone({ id, task }: ItemTask): void {
    this.#doneHere = this.#doneHere.filter((cell) => cell.id !== id || cell.task !== task);
  }

  #withdraw(lease: ItemLease | undefined, cause: Withdrawal, gone: { index?: number } = {}): void {
    if (!lease) return;
    const { id, task, token } = lease;
    this.#end(lease);
    this.#changes.push({ kind: 'withdrawn', id, task, token, reason: cause.reason });
    this.#emit({ type: 'item:withdrawn', ...gone, ...this.#subject(lease), ...cause });
  }

  #putBack(what: string): void {
    this.#changes.push({ kind: 'reverted', what });
    this.#emit({ type: 'edit:reverted', file: 'table', what });
  }

  /** Tasks whose statuses only the run may write: the Task Order, and what left it while items were running. */
  #watched(): string[] {
    return [...new Set([...this.#tasks, ...this.#leases.map(({ task }) => task)])];
  }

  #addColumn(name: string): void {
    for (const row of this.#rows) row[name] ??= '';
  }

  #requireTask(task: string): void {
    if (!this.#tasks.includes(task))
      throw new NightshiftError('not-found', `${task} is not in the Task Order any more`);
  }

  #subject({ id, task }: ItemTask): { task: string; item: string; index?: number } {
    const index = this.#rows.findIndex((row) => row[ID] === id);
    return { task, item: id, ...(index < 0 ? {} : { index }) };
  }
}

function setTo(to: Status): Withdrawal {
  return { to, reason: `set to ${to} by an edit` };
}

function taken(to: Status): Withdrawal {
  return { to, reason: 'its lease was over, and it was taken' };
}
