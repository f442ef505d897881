import { NightshiftError } from '../../../core/model/errors.ts';
import { type IdentityBasis, NO_BASIS } from '../../../core/model/identity-basis.ts';
import type { LeaseTerms } from '../../../core/model/lease.ts';
import { mayWrite, type Status, writerOf } from '../../../core/model/status.ts';
import type {
  Change,
  Claim,
  ItemLease,
  ItemTask,
  Outputs,
  Restoration,
  Snapshot,
  Store,
  WriteResult,
} from '../../store.ts';
import { replaceFile } from '../files/atomic-write.ts';
import { LOCK_WAIT_MS, lockWithin } from '../files/flock.ts';
import { journalEnd, type Position } from '../journal/journal-reader.ts';
import { readCommandEdits } from './command-edits.ts';
import { Draft, snapshotOf } from './draft.ts';
import type { FolderStoreOptions } from './folder-store-options.ts';
import { Identities } from './identities.ts';
import { readBasis } from './identity-file.ts';
import { LeaseWriter, type Withdrawal } from './lease-writer.ts';
import { Leases } from './leases.ts';
import { ReadingLock } from './reading-lock.ts';
import { type Reading, reconcile, summarise } from './reconcile.ts';
import { RemovedRows } from './removed-rows.ts';
import { replayColumns } from './replay-columns.ts';
import { allRowsGone, TableFile } from './table-file.ts';
import { TaskColumns } from './task-columns.ts';
import { WriteQueue } from './write-queue.ts';

/** The table in a shift's folder: the only authority on what is done. */
export class FolderStore implements Store {
  readonly #options: FolderStoreOptions;
  readonly #file: TableFile;
  readonly #lock: ReadingLock;
  readonly #leases = new Leases();
  readonly #removedRows = new RemovedRows();
  readonly #queue: WriteQueue<Draft>;
  readonly #leasing: LeaseWriter;
  #tasks: TaskColumns;
  #reading: Reading | undefined;
  #basis: IdentityBasis = NO_BASIS;
  #journalSeen: Position | undefined;
  #changes: Change[] = [];
  #isLocked = false;

  constructor(options: FolderStoreOptions) {
    this.#options = options;
    this.#file = new TableFile(options.table, options.failpoint ?? (() => {}));
    this.#lock = new ReadingLock(options);
    this.#tasks = new TaskColumns(options.tasks, options.outputs);
    this.#queue = new WriteQueue<Draft>({
      begin: () => this.#begin(),
      // A change based on the first reading, which may hold no lock, is computed again under one.
      write: async (draft) => this.#isLocked && this.#write(draft),
      isChanged: (draft) => draft.isChanged,
      isCurrent: () => this.#file.isCurrent(),
      expectsMoreThan: (waiting) => this.#leases.count > waiting,
    });
    this.#leasing = new LeaseWriter({
      queue: this.#queue,
      leases: this.#leases,
      columnOf: (task) => this.#tasks.require(task),
      tasks: () => this.#tasks.taskOrder,
      withdraw: (lease, cause) => this.#withdraw(lease, cause),
    });
  }

  snapshot(): Promise<Snapshot> {
    return this.#queue.read(() => snapshotOf(this.#reading!, this.#tasks.taskOrder));
  }

  async prepare(tasks: readonly string[], outputs: ReadonlyMap<string, readonly string[]>): Promise<void> {
    const added = [...outputs.values()].flat();
    const isPrepared = await this.#queue.read(() => {
      return this.#tasks.isDeclared(tasks, outputs) && added.every((name) => this.#reading!.table.columnOf(name) >= 0);
    });
    if (isPrepared) return;
    await this.#queue.add((draft) => {
      const running = Array.from(this.#leases.all(), ({ task }) => task);
      const declared = this.#tasks.declare(tasks, outputs, running);
      // Checked first: a task without its column must leave everything as it was.
      declared.read(draft.reading.table, this.#options.table);
      draft.addColumns(added, '');
      return () => {
        this.#tasks = declared;
        const { table, identities } = this.#reading!;
        const columns = declared.read(table, this.#options.table);
        this.#reading = { table, columns, identities: this.#identify(table, identities.known()) };
      };
    });
  }

  claim(task: string, ids: readonly string[], terms: LeaseTerms): Promise<Claim[]> {
    return this.#leasing.claim(task, ids, terms);
  }

  adopt(cell: ItemTask, terms: LeaseTerms): Promise<Claim | undefined> {
    return this.#leasing.adopt(cell, terms);
  }

  async renew(tokens: readonly string[], expiresAt: number): Promise<string[]> {
    return this.#leasing.renew(tokens, expiresAt);
  }

  async leases(): Promise<ItemLease[]> {
    return [...this.#leases.all()];
  }

  giveBackStale(now: number): Promise<number> {
    return this.#leasing.giveBackStale(now);
  }

  record(token: string, from: Status, to: Status, outputs: Outputs = {}, reason?: string): Promise<WriteResult> {
    return this.#queue.add<WriteResult>((draft) => {
      if (!mayWrite(writerOf(from, to), from, to)) {
        throw new NightshiftError('bad-transition', `a status does not go from ${from} to ${to}`);
      }
      const lease = this.#leases.find(token);
      if (!lease) return refuse('the token is not the current one');
      const row = draft.reading.identities.rowOf(lease.id);
      if (row === undefined) return refuse('the row is gone');
      const task = this.#tasks.all.indexOf(lease.task);
      const status = draft.status(row, task);
      if (status !== from) return refuse(`its status is ${status}, not ${from}`);
      draft.setStatus(row, task, to);
      draft.addColumns(Object.keys(outputs), '');
      for (const [name, value] of Object.entries(outputs)) draft.setCell(row, name, value);
      return () => {
        if (to !== 'qa' && to !== 'in_progress') this.#leases.end(lease);
        if (to === 'done') this.#leases.markDone(lease);
        const said = reason === undefined ? {} : { reason };
        this.#options.emit({ type: 'item:recorded', ...this.#subject(lease), from, to, ...said });
        return { ok: true };
      };
    });
  }

  release(token: string, reason: string): Promise<WriteResult> {
    return this.#queue.add<WriteResult>((draft) => {
      const lease = this.#leases.find(token);
      if (!lease) return refuse('the token is not the current one');
      const row = draft.reading.identities.rowOf(lease.id);
      const task = this.#tasks.all.indexOf(lease.task);
      const isTaken = row !== undefined && draft.status(row, task) === 'in_progress';
      if (isTaken) draft.setStatus(row, task, 'todo');
      return () => {
        this.#leases.end(lease);
        this.#options.emit({ type: 'item:returned', ...this.#subject(lease), reason });
        return { ok: true };
      };
    });
  }

  reset(cells: readonly ItemTask[]): Promise<number> {
    return this.#leasing.reset(cells);
  }

  changes(): Promise<Change[]> {
    return this.#queue.read(() => this.#changes.splice(0));
  }

  async restore(): Promise<Restoration | undefined> {
    if (!this.#reading) return undefined;
    using _lock = await lockWithin(this.#options.lock, this.#options.lockWaitMs ?? LOCK_WAIT_MS);
    const read = await this.#read();
    if (!(read instanceof NightshiftError)) {
      await this.#refresh(read);
      return undefined;
    }
    const restored = await this.#file.restore(this.#reading.table);
    this.#options.emit({ type: 'edit:reverted', file: this.#file.file, what: 'it could not be read', ...restored });
    return restored;
  }

  async #begin(): Promise<{ draft: Draft } & Disposable> {
    const lock = await this.#lock.take(this.#reading === undefined, async () => {
      const read = await this.#read();
      return read instanceof NightshiftError ? read : this.#refresh(read);
    });
    this.#isLocked = lock !== undefined;
    return { draft: new Draft(this.#reading!, this.#tasks.all), [Symbol.dispose]: () => lock?.[Symbol.dispose]() };
  }

  /** Our own write moves no row, so identities stay. */
  async #write(draft: Draft): Promise<boolean> {
    const { table, columns } = draft.result();
    if (!(await this.#file.write(table))) return false;
    const { identities } = draft.reading;
    identities.rebase(table);
    this.#reading = { table, columns, identities };
    return true;
  }

  /** The table if others changed it, undefined if not, or what is wrong with it. */
  async #read(): Promise<Reading | undefined | NightshiftError> {
    try {
      return await this.#file.readIfChanged((table) => {
        if (table.rowCount === 0 && this.#reading && this.#reading.table.rowCount > 0)
          throw allRowsGone(this.#file.file);
        const tasks = this.#tasks.in(table);
        const columns = tasks.read(table, this.#options.table);
        this.#forgetColumns(tasks);
        this.#basis = readBasis(this.#options.identity);
        return { table, columns, identities: this.#identify(table) };
      });
    } catch (error) {
      if (error instanceof NightshiftError) return error;
      throw error;
    }
  }

  /** Reconciles edits by others. False if they changed more meanwhile; then nothing was settled. */
  async #refresh(after: Reading | undefined): Promise<boolean> {
    if (!after) return true;
    if (this.#reading) return this.#settle(this.#reading, after);
    this.#journalSeen = journalEnd(this.#options.journal);
    this.#reading = after;
    return true;
  }

  async #settle(known: Reading, after: Reading): Promise<boolean> {
    const sanctioned = await readCommandEdits(this.#options.journal, this.#journalSeen);
    const identify = this.#identify.bind(this);
    const before = replayColumns(known, sanctioned.columns, identify);
    const settled = reconcile(before, after, {
      tasks: this.#tasks.all,
      identify,
      outputsOf: (task) => this.#tasks.outputs.get(task) ?? [],
      isClaimed: (id, task) => this.#leases.of({ id, task }) !== undefined,
      claimed: () => this.#leases.all(),
      isDoneHere: (id, task) => this.#leases.isDoneHere({ id, task }),
      removedRows: this.#removedRows,
      isSanctioned: (freshId, task, to) => this.#options.isShared === true || sanctioned.has(freshId, task, to),
    });
    const { reading, putBack, reverted, withdrawn, meant, addedRows, removedRows, returnedRows } = settled;
    if (putBack.length > 0) {
      const { file } = this.#file;
      const kept = this.#file.nameBeside();
      await replaceFile(kept, after.table.bytes, 0o600);
      const draft = new Draft(reading, this.#tasks.all);
      for (const { row, column, value } of putBack) draft.setCell(row, after.table.header[column]!, value);
      if (!(await this.#write(draft))) return false;
      this.#changes.push(...reverted.map((what) => ({ kind: 'reverted' as const, what })));
      this.#options.emit({ type: 'edit:reverted', file, what: summarise(reverted), kept });
    } else {
      this.#reading = reading;
    }
    this.#journalSeen = sanctioned.end;
    for (const row of returnedRows) this.#removedRows.forget(row);
    for (const row of removedRows) this.#removedRows.add(row);
    for (const cell of meant) this.#leases.unmarkDone(cell);
    for (const { id, task, to, reason } of withdrawn) {
      // A removed row is known by the number it had.
      this.#withdraw(this.#leases.of({ id, task }), { to, reason }, before.identities.rowOf(id));
    }
    if (addedRows > 0) this.#options.emit({ type: 'table:grew', rows: addedRows });
    return true;
  }

  /** You removed the column of a task that is not in the Task Order any more: its running items are lost. */
  #forgetColumns(tasks: TaskColumns): void {
    if (tasks === this.#tasks || !this.#reading) return;
    const { columns, ...reading } = this.#reading;
    this.#reading = { ...reading, columns: columns.filter((_, i) => tasks.all.includes(this.#tasks.all[i]!)) };
    this.#tasks = tasks;
    for (const lease of [...this.#leases.all()]) {
      if (!tasks.all.includes(lease.task)) this.#withdraw(lease, { to: null, reason: 'its column was removed' });
    }
  }

  #withdraw(lease: ItemLease | undefined, cause: Withdrawal, index?: number): void {
    if (!lease) return;
    const { id, task, token } = lease;
    this.#leases.end(lease);
    this.#changes.push({ kind: 'withdrawn', id, task, token, reason: cause.reason });
    const known = index === undefined ? {} : { index };
    this.#options.emit({ type: 'item:withdrawn', ...known, ...this.#subject(lease), ...cause });
  }

  #identify(table: Reading['table'], known?: Iterable<[number, string]>): Identities {
    return new Identities(table, this.#tasks.names, known, this.#basis);
  }

  #subject({ id, task }: ItemTask): { task: string; item: string; index?: number } {
    const index = this.#reading!.identities.rowOf(id);
    return { task, item: id, ...(index === undefined ? {} : { index }) };
  }
}

function refuse(why: string): () => WriteResult {
  return () => ({ ok: false, why });
}
