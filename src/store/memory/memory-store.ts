import { NightshiftError } from '../../core/model/errors.ts';
import type { Emit } from '../../core/model/events.ts';
import { mayWrite, STATUSES, type Status, writerOf } from '../../core/model/status.ts';
import type { Change, Claim, ItemTask, Outputs, Recorded, Snapshot, Store } from '../store.ts';

/** An item's cells by column name. Copies made by spreading are still known as the same item. */
export type Row = Record<string, string> & { [ID]?: string };

const ID = Symbol('id');

interface Held extends ItemTask {
  readonly token: string;
  status: Status;
}

/**
 * The store's twin without a folder: plain objects, no lock, no file. It shows what the contract asks for and nothing
 * else, and shares no code with the folder store, so that a mistake in one is not a mistake in both.
 */
export class MemoryStore implements Store {
  #rows: Row[];
  #tasks: readonly string[];
  #outputs: ReadonlyMap<string, readonly string[]>;
  readonly #emit: Emit;
  #held: Held[] = [];
  #doneHere: ItemTask[] = [];
  /** As they were when somebody removed them. */
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
    const rows = this.#rows.map((row) => ({ ...row }));
    const tasks = this.#tasks;
    return {
      count: rows.length,
      tasks,
      columns: tasks.map((task) => Uint8Array.from(rows, (row) => STATUSES.indexOf(statusIn(row, task)))),
      header: Object.keys(rows[0] ?? {}),
      id: (row) => rows[row]![ID]!,
      rowOf: (id) => {
        const row = rows.findIndex((each) => each[ID] === id);
        return row < 0 ? undefined : row;
      },
      metadata: (row) => Object.fromEntries(Object.entries(rows[row]!).filter(([name]) => !tasks.includes(name))),
    };
  }

  async claim(task: string, ids: readonly string[]): Promise<Claim[]> {
    this.#requireTask(task);
    const claims: Claim[] = [];
    for (const id of ids) {
      const row = this.#find(id);
      if (!row || this.#holder({ id, task })) continue;
      if (statusIn(row, task) === 'todo') row[task] = 'in_progress';
      else if (row[task] !== 'qa') continue;
      const held: Held = { id, task, token: `token-${++this.#count}`, status: row[task] as Status };
      this.#held.push(held);
      claims.push({ ...held, row: this.#rows.indexOf(row) });
    }
    return claims;
  }

  async adopt({ id, task }: ItemTask): Promise<Claim | undefined> {
    const row = this.#find(id);
    const status = row?.[task] as Status | undefined;
    if (!row || (status !== 'in_progress' && status !== 'qa')) return undefined;
    const held: Held = { id, task, token: `token-${++this.#count}`, status };
    this.#held.push(held);
    return { ...held, row: this.#rows.indexOf(row) };
  }

  async record(token: string, from: Status, to: Status, outputs: Outputs = {}, reason?: string): Promise<Recorded> {
    if (!mayWrite(writerOf(from, to), from, to)) {
      throw new NightshiftError('bad-transition', `a status does not go from ${from} to ${to}`);
    }
    const held = this.#held.find((each) => each.token === token);
    if (!held) return { ok: false, why: 'the token is not the current one' };
    const row = this.#find(held.id);
    if (!row) return { ok: false, why: 'the row is gone' };
    if (statusIn(row, held.task) !== from) return { ok: false, why: `its status is ${row[held.task]}, not ${from}` };
    row[held.task] = to;
    for (const [name, value] of Object.entries(outputs)) {
      this.#addColumn(name);
      row[name] = value;
    }
    if (to === 'qa' || to === 'in_progress') held.status = to;
    else this.#forget(held);
    if (to === 'done') this.#doneHere.push({ id: held.id, task: held.task });
    this.#emit({
      type: 'item:recorded',
      ...this.#subject(held),
      from,
      to,
      ...(reason === undefined ? {} : { reason }),
    });
    return { ok: true };
  }

  async release(token: string, reason: string): Promise<Recorded> {
    const held = this.#held.find((each) => each.token === token);
    if (!held) return { ok: false, why: 'the token is not the current one' };
    const row = this.#find(held.id);
    if (row?.[held.task] === 'in_progress') row[held.task] = 'todo';
    this.#forget(held);
    this.#emit({ type: 'item:returned', ...this.#subject(held), reason });
    return { ok: true };
  }

  async reset(cells: readonly ItemTask[]): Promise<number> {
    let count = 0;
    for (const cell of cells) {
      this.#requireTask(cell.task);
      const row = this.#find(cell.id);
      this.#forget(this.#holder(cell));
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

  /** The rows as somebody who opens the table sees them: a copy, to be saved later. */
  rows(): Row[] {
    return this.#rows.map((row) => ({ ...row }));
  }

  /** A person edits the table with a program of their own: gets the rows and gives back what is saved. */
  edit(change: (rows: Row[]) => Row[]): void {
    const before = this.#rows;
    const saved = change(this.rows());
    const isCopy = (row: Row, i: number) => saved.findIndex((each) => each[ID] === row[ID]) < i;
    const after = saved.map((row, i) => (row[ID] === undefined || isCopy(row, i) ? this.#named(row) : row));
    this.#rows = after;
    const edits = before.flatMap((was) => {
      const now = after.find((row) => row[ID] === was[ID]);
      const changed = now ? this.#tasks.filter((task) => statusIn(was, task) !== statusIn(now, task)) : [];
      return changed.map((task) => ({ was, now: now!, cell: { id: was[ID]!, task } }));
    });
    const takenBack = edits.filter(({ now, cell }) => this.#holder(cell) && statusIn(now, cell.task) === 'todo').length;
    const isOldCopy =
      edits.some(({ cell }) => this.#isDoneHere(cell)) || (takenBack > 1 && takenBack === this.#held.length);
    for (const { was, now, cell } of edits) {
      const { task } = cell;
      const to = statusIn(now, task);
      if (isOldCopy || ['in_progress', 'qa', 'done'].includes(to)) {
        now[task] = was[task]!;
        const outputs = this.#isDoneHere(cell) ? (this.#outputs.get(task) ?? []) : [];
        for (const name of outputs) now[name] = was[name]!;
        this.#putBack(`row ${after.indexOf(now) + 1}: ${task} from ${was[task]} to ${to}`);
      } else {
        this.#withdraw(this.#holder(cell), to);
      }
    }
    const gone = this.#held.filter((held) => !this.#find(held.id));
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
    for (const held of gone) {
      const index = before.findIndex((row) => row[ID] === held.id);
      this.#withdraw(held, null, { index });
    }
  }

  /** A person changes a status with a command: it is meant, unless it would pass an item that is in flight. */
  command(row: number, task: string, to: Status): void {
    const changed = this.#rows[row]!;
    const cell = { id: changed[ID]!, task };
    if (this.#holder(cell) && ['in_progress', 'qa', 'done'].includes(to)) {
      this.#putBack(`row ${row + 1}: ${task} from ${changed[task]} to ${to}`);
      return;
    }
    changed[task] = to;
    this.#forgetDone(cell);
    this.#withdraw(this.#holder(cell), to);
  }

  #named(row: Record<string, string>): Row {
    return { ...row, [ID]: `item-${++this.#count}` };
  }

  #find(id: string): Row | undefined {
    return this.#rows.find((row) => row[ID] === id);
  }

  #holder({ id, task }: ItemTask): Held | undefined {
    return this.#held.find((held) => held.id === id && held.task === task);
  }

  #forget(held: Held | undefined): void {
    this.#held = this.#held.filter((each) => each !== held);
  }

  #isDoneHere({ id, task }: ItemTask): boolean {
    return this.#doneHere.some((cell) => cell.id === id && cell.task === task);
  }

  #forgetDone({ id, task }: ItemTask): void {
    this.#doneHere = this.#doneHere.filter((cell) => cell.id !== id || cell.task !== task);
  }

  /** `to` is null if its row is gone. */
  #withdraw(held: Held | undefined, to: Status | null, gone: { index?: number } = {}): void {
    if (!held) return;
    const reason = to === null ? 'somebody removed its row' : `somebody set it to ${to}`;
    this.#forget(held);
    this.#changes.push({ kind: 'withdrawn', id: held.id, task: held.task, token: held.token, reason });
    this.#emit({ type: 'item:withdrawn', ...gone, ...this.#subject(held), to, reason });
  }

  #putBack(what: string): void {
    this.#changes.push({ kind: 'reverted', what });
    this.#emit({ type: 'edit:reverted', file: 'table', what });
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

/** What nobody has written yet is `todo`. */
function statusIn(row: Row, task: string): Status {
  return (row[task] || 'todo') as Status;
}
