import type { History } from '../core/folds/history.ts';
import { EXIT } from '../core/model/errors.ts';
import type { Emit } from '../core/model/events.ts';
import type { Trouble } from '../core/model/model.ts';
import { RowLabels } from '../core/model/row-labels.ts';
import type { Shift } from '../core/model/shift.ts';
import { isWorkLeft } from '../core/schedule/next.ts';
import { cellsAt, countItems, type Progress, type Scope } from '../core/schedule/plan.ts';
import { Returns } from '../core/schedule/returns.ts';
import { count } from '../core/text/count.ts';
import type { Documents } from '../store/documents.ts';
import type { Snapshot, Store } from '../store/store.ts';
import { AtWork } from './at-work.ts';
import { Budget } from './budget.ts';
import type { RunControl } from './control.ts';
import { Deliveries } from './deliveries.ts';
import { FilePatience, isCurable } from './file-patience.ts';
import { Patience } from './patience.ts';
import { patientDocuments, patientStore } from './patient-ports.ts';
import type { RunEnd, RunPorts } from './ports.ts';

/** A run waits for a quota that resets within a day, but does not sleep for a week. */
const LONGEST_WAIT_MS = 24 * 3600_000;

/**
 * Everything that a run has and knows, in batches and in a stream: its ports, the shift as last read, what was spent.
 */
export class RunContext implements Disposable {
  readonly ports: Omit<RunPorts, 'store' | 'documents' | 'worker'>;
  /** The ports, which wait for unreadable files (rule F6). */
  readonly store: Store;
  readonly documents: Documents;
  readonly work: AtWork;
  readonly #files: FilePatience;
  readonly budget: Budget;
  readonly patience: Patience;
  /** Items that asked to be tried later (rule X5). */
  readonly returns = new Returns();
  /** Tasks whose reports a fold could not settle, because a file was being edited. */
  readonly unfolded = new Set<string>();
  readonly labels = new RowLabels();
  readonly deliveries: Deliveries;
  readonly #folderId: string;
  #shift: Shift;
  #isRead = true;
  /** The revision of the documents whose limits are followed. */
  #followed = 0;
  /** The folder was found missing while an item was running: nothing is waited for or restored any more. */
  #isGone = false;
  #stepsInUse: Promise<unknown> = Promise.resolve();
  #progress: { done: number; total: number; itemTasks?: Progress['itemTasks'] } = { done: 0, total: 0 };
  /** The number of batches so far; in a stream, of items. */
  dispatched = 0;
  /** How many orders were left with the workers of a fleet. */
  leftOrders = 0;
  /**
   * The size of the next batch in a run of a part, which does not write it. `inFile`: the value in the file at that
   * time.
   */
  ownSize: { readonly size: number; readonly inFile: number | undefined } | undefined;

  constructor({ store, documents, worker, ...ports }: RunPorts, shift: Shift, folderId: string) {
    this.ports = ports;
    this.budget = new Budget(ports, shift);
    this.deliveries = new Deliveries(ports.events.emit);
    this.#files = new FilePatience({
      emit: ports.events.emit,
      stop: ports.control,
      patienceMs: () => ports.filePatienceMs ?? this.#shift.settings.patienceMs,
      clock: ports.clock,
      isThere: async () => !this.#isGone && (await documents.folderId()) === folderId,
    });
    this.store = patientStore(store, this.#files);
    this.documents = patientDocuments(documents, this.#files);
    this.work = new AtWork(ports, { worker, files: this.#files, spent: this.budget.spentUp });
    this.patience = new Patience(() => ports.clock.elapsed());
    this.#shift = shift;
    this.#folderId = folderId;
  }

  get emit(): Emit {
    return this.ports.events.emit;
  }

  get history(): History {
    return this.ports.events.history;
  }

  get control(): RunControl {
    return this.ports.control;
  }

  /** The scope of the run without paused tasks. */
  select(snapshot: Snapshot): Scope {
    return this.budget.narrow(this.ports.scope.select(snapshot));
  }

  /** Runs `use` alone: reading the Steps for a claim and writing them must not overlap. */
  alone<T>(use: () => Promise<T>): Promise<T> {
    const turn = this.#stepsInUse.then(use);
    this.#stepsInUse = turn.catch(() => {});
    return turn;
  }

  get shift(): Shift {
    return this.#shift;
  }

  /** Resolves when the run is not paused, or has to end. Nothing runs meanwhile: this time does not count (rule X6). */
  async resumed(): Promise<void> {
    using _held = this.ports.clock.hold();
    await this.control.resumed();
  }

  /** The run itself changed the files, so it reads them again before the next batch. */
  expectChange(): void {
    this.#isRead = false;
  }

  /** Rules M1 and M6: reads what changed, and confirms that it is still the same shift. */
  async reload(): Promise<RunEnd | undefined> {
    if (this.#isRead) {
      this.#isRead = false;
      return undefined;
    }
    try {
      return await this.#files.until(() => this.#read());
    } catch (error) {
      // Stopped while waiting: the caller notices and claims nothing.
      if (isCurable(error) && this.control.drain.aborted) return undefined;
      throw error;
    }
  }

  async #read(): Promise<RunEnd | undefined> {
    const lost = await this.lostFolder();
    if (lost) return lost;
    const shift = await this.ports.load();
    const { name } = shift.settings;
    if (name !== undefined && name !== shift.name) return this.#lostContext(`manager.md now has the name ${name}`);
    if (name === undefined && this.#shift.settings.name !== undefined) {
      return this.#lostContext('manager.md has lost its name');
    }
    if (shift.tasks.length === 0) return this.#lostContext('the Task Order is empty now');
    this.#adopt(shift);
    return undefined;
  }

  /** For a running item; if not, the run can only end. */
  async isShiftThere(): Promise<boolean> {
    this.#isGone ||= !(await this.documents.isThere());
    return !this.#isGone;
  }

  /** How the run ends if the shift's folder was moved, removed or replaced. */
  async lostFolder(): Promise<RunEnd | undefined> {
    const id = await this.documents.folderId();
    const { folder } = this.#shift;
    if (id === this.#folderId) {
      return this.#isGone ? this.#lostContext(`manager.md and table.csv are gone from ${folder}`) : undefined;
    }
    return this.#lostContext(
      id === 'gone'
        ? `its folder ${folder} is gone: if it was moved, start the shift in its new place`
        : `another folder has replaced ${folder}`,
    );
  }

  /** While items run, limits that get lower take effect at once (rule D5). */
  async followLimits(): Promise<void> {
    const { revision } = this.documents;
    if (revision === this.#followed) return;
    try {
      this.budget.followLimits((await this.ports.load()).settings.limits);
      this.#followed = revision;
    } catch (error) {
      // The next claim waits until the file can be read.
      if (!isCurable(error)) throw error;
    }
  }

  #adopt(shift: Shift): void {
    for (const warning of shift.warnings) {
      if (!this.#shift.warnings.includes(warning)) this.emit({ type: 'run:warning', message: warning });
    }
    this.#shift = shift;
    this.budget.follow(shift);
  }

  /** Rule M5. */
  report({ completed: done, total, itemTasks }: Progress, compacted: boolean): void {
    this.#progress = { done, total, itemTasks };
    this.emit({ type: 'progress', ...this.#progress, compacted });
  }

  #lostContext(why: string): RunEnd {
    const message = `the manager can't confirm what it works on: ${why}. Nothing more was claimed.`;
    this.emit({ type: 'run:warning', message });
    this.emit({ type: 'progress', ...this.#progress, compacted: true });
    return { exitCode: EXIT.stopped, reason: message };
  }

  /** Rule X5: how many milliseconds to wait, with an event; or how the run ends. */
  endure({ reason, remedy, until }: Trouble): number | RunEnd {
    if (remedy !== undefined) return { exitCode: EXIT.agentMissing, reason: `${reason}: ${remedy}` };
    const left = (until ?? 0) - this.ports.clock.now();
    const isKnown = left > 0 && (left <= LONGEST_WAIT_MS || this.#isTimed);
    const limit = isKnown ? this.budget.before(until!) : undefined;
    if (limit !== undefined) {
      return { exitCode: EXIT.stopped, reason: `${reason}: ${limit}`, notBefore: new Date(until!).toISOString() };
    }
    const ms = isKnown
      ? Math.min(left, LONGEST_WAIT_MS)
      : this.patience.pause(this.#isTimed ? Number.POSITIVE_INFINITY : this.#shift.settings.patienceMs);
    if (ms === undefined) return this.#outOfPatience(reason);
    const whole = Math.ceil(ms);
    this.emit({ type: 'run:waiting', ms: whole, reason });
    return whole;
  }

  /** Whether the run has an end time. Then it waits for trouble to pass until that time, to do as much as possible. */
  get #isTimed(): boolean {
    const { until, 'max-duration': maxDuration } = this.budget.inForce;
    return !this.#shift.settings.isPatienceSet && (until !== undefined || maxDuration !== undefined);
  }

  #outOfPatience(trouble: string): RunEnd {
    const seconds = Math.round(this.#shift.settings.patienceMs / 1000);
    const reason = `no progress for ${seconds} seconds, and it is not the items' fault: ${trouble}`;
    return { exitCode: EXIT.stopped, reason };
  }

  async interrupted(): Promise<RunEnd> {
    if (this.leftOrders > 0) {
      const reason = `left ${count(this.leftOrders, 'item')} with workers`;
      return { exitCode: EXIT.interrupted, reason, left: this.leftOrders };
    }
    const snapshot = await this.store.snapshot().catch((error: unknown) => {
      // You can stop a run even if its table can't be read.
      if (isCurable(error)) return undefined;
      throw error;
    });
    if (snapshot && !this.isLeft(snapshot)) return this.finished(snapshot);
    const { reason } = this.budget;
    if (reason !== undefined && !this.control.now.aborted) {
      return { exitCode: EXIT.stopped, reason };
    }
    return { exitCode: EXIT.interrupted, reason: 'interrupted' };
  }

  isLeft(snapshot: Snapshot, scope: Scope = this.select(snapshot)): boolean {
    return isWorkLeft(snapshot, scope);
  }

  /** An earlier run may have been killed before it wrote the Progress of its last batch. */
  async finished(snapshot: Snapshot): Promise<RunEnd> {
    await this.documents.finishBatch(countItems(snapshot), undefined);
    const scope = this.ports.scope.select(snapshot);
    const { pauses } = this.budget;
    if (pauses !== undefined && this.isLeft(snapshot, scope)) {
      return { exitCode: EXIT.stopped, reason: pauses };
    }
    const failed = cellsAt(snapshot, 'failed', scope).length;
    if (failed > 0) return { exitCode: EXIT.failedItems, reason: 'finished, with failed items' };
    const { total, completed } = countItems(snapshot);
    if (this.dispatched === 0 && completed === total) {
      return { exitCode: EXIT.done, reason: 'already complete', alreadyComplete: true };
    }
    return { exitCode: EXIT.done, reason: 'finished' };
  }

  [Symbol.dispose](): void {
    this.budget[Symbol.dispose]();
  }
}
