import { EXIT } from '../core/model/errors.ts';
import type { Counts } from '../core/model/events.ts';
import type { Trouble } from '../core/model/model.ts';
import type { Shift } from '../core/model/shift.ts';
import { isWorkLeft } from '../core/schedule/next.ts';
import { cellsAt, countItems, type Selection } from '../core/schedule/plan.ts';
import type { Snapshot } from '../store/store.ts';
import { RunLimits } from './budget.ts';
import { FilePatience, isCurable } from './file-patience.ts';
import { Patience } from './patience.ts';
import { patientDocuments, patientStore } from './patient-ports.ts';
import type { RunEnd, RunParts } from './ports.ts';

/** A usage limit that ends within a day is waited for; nobody is served by a run that sleeps for a week. */
const LONGEST_WAIT_MS = 24 * 3600_000;

/** What a run knows about itself, whichever way it dispatches: the shift as last read, and how it would end. */
export class Course implements Disposable {
  /** They select nothing of a task that is paused, and wait for files that can't be read. */
  readonly parts: RunParts;
  readonly #files: FilePatience;
  readonly limits: RunLimits;
  readonly patience: Patience;
  readonly #select: RunParts['select'];
  readonly #folderId: string;
  #shift: Shift;
  #isRead = true;
  #progress = { done: 0, total: 0 };
  /** Batches, or in a stream items, so far. */
  dispatched = 0;
  /** Of the next batch of a run of a part, which is not the shift's and not written; `inFile`: what stood there then. */
  ownSize: { readonly size: number; readonly inFile: number | undefined } | undefined;

  constructor(parts: RunParts, shift: Shift, folderId: string) {
    this.limits = new RunLimits(parts, shift);
    this.#select = parts.select;
    this.#files = new FilePatience({
      emit: parts.emit,
      stop: parts.stop,
      patienceMs: () => parts.filePatienceMs ?? this.#shift.settings.patienceMs,
      clock: parts.clock,
      isThere: async () => (await parts.documents.folderId()) === folderId,
    });
    this.parts = {
      ...parts,
      spentUp: () => this.limits.spentUp,
      store: patientStore(parts.store, this.#files),
      documents: patientDocuments(parts.documents, this.#files),
      perform: (...order) => this.#files.whileAtWork(() => parts.perform(...order)),
      select: (snapshot) => this.limits.narrow(parts.select(snapshot)),
    };
    this.patience = new Patience(() => parts.clock.elapsed());
    this.#shift = shift;
    this.#folderId = folderId;
  }

  get shift(): Shift {
    return this.#shift;
  }

  /** The files changed by our own hand: they are read again before the next batch. */
  expectChange(): void {
    this.#isRead = false;
  }

  /** Rules M1 and M6: what changed is read again, and the manager makes sure that it still knows where it is. */
  async reload(): Promise<RunEnd | undefined> {
    if (this.#isRead) {
      this.#isRead = false;
      return undefined;
    }
    try {
      return await this.#files.until(() => this.#read());
    } catch (error) {
      // Stopped while it waited: whoever asked sees that, and claims nothing.
      if (isCurable(error) && this.parts.stop.drain.aborted) return undefined;
      throw error;
    }
  }

  async #read(): Promise<RunEnd | undefined> {
    const lost = await this.lostFolder();
    if (lost) return lost;
    const shift = await this.parts.load();
    const { name } = shift.settings;
    if (name !== undefined && name !== shift.name) return this.#lostContext(`manager.md now has the name ${name}`);
    if (name === undefined && this.#shift.settings.name !== undefined) {
      return this.#lostContext('manager.md has lost its name');
    }
    if (shift.tasks.length === 0) return this.#lostContext('the Task Order is empty now');
    this.#adopt(shift);
    return undefined;
  }

  /** How the run ends if the shift's folder was moved, removed or replaced. */
  async lostFolder(): Promise<RunEnd | undefined> {
    const id = await this.parts.documents.folderId();
    if (id === this.#folderId) return undefined;
    const { folder } = this.#shift;
    return this.#lostContext(
      id === 'gone'
        ? `its folder ${folder} is gone: if it was moved, start the shift in its new place`
        : `another folder is now in the place of ${folder}`,
    );
  }

  #adopt(shift: Shift): void {
    for (const warning of shift.warnings) {
      if (!this.#shift.warnings.includes(warning)) this.parts.emit({ type: 'run:warning', message: warning });
    }
    this.#shift = shift;
    this.limits.follow(shift);
  }

  /** Rule M5. */
  report(counts: Counts, compacted: boolean): void {
    this.#progress = { done: counts.completed, total: counts.total };
    this.parts.emit({ type: 'progress', ...this.#progress, compacted });
  }

  #lostContext(why: string): RunEnd {
    const message = `the manager can't confirm what it works on: ${why}. Nothing more was claimed.`;
    this.parts.emit({ type: 'run:warning', message });
    this.parts.emit({ type: 'progress', ...this.#progress, compacted: true });
    return { exitCode: EXIT.stopped, reason: message };
  }

  /** Rule X5: for how many milliseconds to wait, which is said; or how the run ends. */
  endure({ reason, remedy, until }: Trouble): number | RunEnd {
    if (remedy !== undefined) return { exitCode: EXIT.agentMissing, reason: `${reason}: ${remedy}` };
    const left = (until ?? 0) - this.parts.clock.now();
    const isKnown = left > 0 && (left <= LONGEST_WAIT_MS || this.#isTimed);
    const limit = isKnown ? this.limits.before(until!) : undefined;
    if (limit !== undefined) {
      return { exitCode: EXIT.stopped, reason: `${reason}: ${limit}`, notBefore: new Date(until!).toISOString() };
    }
    const ms = isKnown
      ? Math.min(left, LONGEST_WAIT_MS)
      : this.patience.pause(this.#isTimed ? Number.POSITIVE_INFINITY : this.#shift.settings.patienceMs);
    if (ms === undefined) return this.#outOfPatience(reason);
    this.parts.emit({ type: 'run:waiting', ms, reason });
    return ms;
  }

  /** It has an end anyway, by which somebody wants as much done as can be: until then, trouble may pass. */
  get #isTimed(): boolean {
    const { until, 'max-duration': maxDuration } = this.limits.inForce;
    return !this.#shift.settings.isPatienceSet && (until !== undefined || maxDuration !== undefined);
  }

  #outOfPatience(trouble: string): RunEnd {
    const seconds = Math.round(this.#shift.settings.patienceMs / 1000);
    const reason = `no progress for ${seconds} seconds, and it is not the items' fault: ${trouble}`;
    return { exitCode: EXIT.stopped, reason };
  }

  async interrupted(): Promise<RunEnd> {
    const snapshot = await this.parts.store.snapshot().catch((error: unknown) => {
      // A table that can't be read keeps nobody from stopping.
      if (isCurable(error)) return undefined;
      throw error;
    });
    if (snapshot && !this.isLeft(snapshot)) return this.finished(snapshot);
    const { reason } = this.limits;
    if (reason !== undefined && !this.parts.stop.now.aborted) {
      return { exitCode: EXIT.stopped, reason };
    }
    return { exitCode: EXIT.interrupted, reason: 'interrupted' };
  }

  isLeft(snapshot: Snapshot, selection: Selection = this.parts.select(snapshot)): boolean {
    return isWorkLeft(snapshot, selection);
  }

  /** An earlier run may have been killed before it wrote the Progress of its last batch. */
  async finished(snapshot: Snapshot): Promise<RunEnd> {
    await this.parts.documents.finishBatch(countItems(snapshot), undefined);
    const selection = this.#select(snapshot);
    const { pauses } = this.limits;
    if (pauses !== undefined && this.isLeft(snapshot, selection)) {
      return { exitCode: EXIT.stopped, reason: pauses };
    }
    const failed = cellsAt(snapshot, 'failed', selection).length;
    if (failed > 0) return { exitCode: EXIT.failedItems, reason: 'finished, with failed items' };
    const { total, completed } = countItems(snapshot);
    if (this.dispatched === 0 && completed === total) {
      return { exitCode: EXIT.done, reason: 'already complete', alreadyComplete: true };
    }
    return { exitCode: EXIT.done, reason: 'finished' };
  }

  [Symbol.dispose](): void {
    this.limits[Symbol.dispose]();
  }
}
