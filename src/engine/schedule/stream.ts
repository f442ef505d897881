import type { Trouble } from '../../core/model/model.ts';
import type { Task } from '../../core/model/shift.ts';
import { countProgress, type Progress } from '../../core/schedule/plan.ts';
import { isWholeShift } from '../../core/schedule/selection.ts';
import type { RunContext } from '../context.ts';
import { isCurable } from '../file-patience.ts';
import { foldLessons } from '../learning/fold.ts';
import { Pause } from '../pause.ts';
import type { RunEnd } from '../ports.ts';
import type { ItemEnd, RunningItem } from './dispatch.ts';
import { Slots } from './slots.ts';

/** Progress is written after items have ended, but not more often than this. */
const PROGRESS_EVERY_MS = 500;
/** While a slot is free, the run checks this often for new rows and changed settings, even if nothing ends. */
const LOOK_EVERY_MS = 1000;

/** Runs items without the barrier of batches (rule X7): a free slot is refilled at once. */
export class Stream implements AsyncDisposable {
  readonly #context: RunContext;
  /** Opened by the first turn: from then on they watch the files. */
  #opened: Slots | undefined;
  /** Nothing more is claimed: how the run ends, or fails, once running items have ended. */
  #ending: (() => RunEnd) | undefined;
  /** The manager can't confirm what it works on (rule M6): it writes nothing more to the manifest. */
  #isLost = false;
  #pause: Pause | undefined;
  #progressAt = 0;
  /** An item has ended since Progress was written. */
  #isReportDue = false;
  #folding: Promise<void> = Promise.resolve();
  /** `current-batch-size` as the run last read or wrote it; any other value is yours. */
  #knownSize: number | undefined;

  readonly #adopted: RunningItem[];

  /** `adopted`: items that run already. */
  constructor(context: RunContext, adopted: readonly RunningItem[] = []) {
    this.#context = context;
    this.#adopted = [...adopted];
  }

  /** Its slots are open. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  /** It has nothing running and nothing to write. */
  get isIdle(): boolean {
    return this.#adopted.length === 0 && (!this.#opened || this.#hasNothing(this.#opened));
  }

  #hasNothing({ used }: Slots): boolean {
    return used === 0 && !this.#isReportDue && !this.#ending;
  }

  get #slots(): Slots {
    if (!this.#opened) {
      this.#opened = new Slots(this.#context);
      this.#knownSize = this.#context.shift.settings.batchSize;
      this.#opened.resume(this.#adopted.splice(0));
    }
    return this.#opened;
  }

  /** Refills free slots, then waits for one item to end. */
  async turn(): Promise<RunEnd | undefined> {
    const { control, ports, shift } = this.#context;
    const mayClaim = !control.isHalted && !this.#ending && shift.settings.stream;
    if (mayClaim && this.#slots.hasRoom && this.#pauseLeft === 0) await this.#refill();
    if (this.#slots.used === 0) return this.#idle();
    // After the refill: a free slot does not wait for the disk.
    if (this.#isReportDue && ports.clock.elapsed() - this.#progressAt >= PROGRESS_EVERY_MS) await this.#report(false);
    for (const end of await this.#slots.next(this.#waitAtMost())) await this.#settle(end);
    return undefined;
  }

  /** How long to wait for an item before there is something else to do. */
  #waitAtMost(): number | undefined {
    const now = this.#context.ports.clock.elapsed();
    const waits: number[] = [];
    if (this.#pauseLeft > 0) waits.push(Math.min(this.#pauseLeft, LOOK_EVERY_MS));
    else if (this.#slots.hasRoom || this.#slots.isShortOfWorkers) waits.push(LOOK_EVERY_MS);
    if (this.#isReportDue) waits.push(Math.max(0, this.#progressAt + PROGRESS_EVERY_MS - now));
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  get #pauseLeft(): number {
    return this.#pause?.left ?? 0;
  }

  async #refill(): Promise<void> {
    // Before the files are read: edits made while items run are reverted first.
    await this.#slots.look();
    if (!(await this.#reload())) return;
    const { shift, control } = this.#context;
    if (control.isHalted || !shift.settings.stream) return;
    const { batchSize, maxBatchSize } = shift.settings;
    if (batchSize !== this.#knownSize) this.#slots.setConcurrency(shift.settings);
    else this.#slots.setConcurrency({ batchSize: this.#slots.concurrency, maxBatchSize });
    this.#knownSize = batchSize;
    await this.#orEndLater(() => this.#slots.fill());
  }

  /**
   * Whether the files could be read and are still the same shift's; if not, running items finish, and then the run
   * ends.
   */
  async #reload(): Promise<boolean> {
    try {
      const lost = await this.#context.alone(() => this.#context.reload());
      if (!lost) return true;
      this.#isLost = true;
      this.#ending = () => lost;
    } catch (error) {
      this.#failLater(error);
    }
    return false;
  }

  /** A file that nobody fixed in time (rule F6) ends the run, but not its running items. */
  async #orEndLater<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isCurable(error)) throw error;
      this.#failLater(error);
      return undefined;
    }
  }

  #failLater(error: unknown): void {
    this.#ending = () => {
      throw error;
    };
  }

  /** Nothing is running: the run ends or pauses. */
  async #idle(): Promise<RunEnd | undefined> {
    const { control, store, shift } = this.#context;
    await this.#folding;
    const snapshot = await store.snapshot();
    if (this.#isReportDue) await this.#writeProgress(countProgress(snapshot), false);
    if (this.#ending) return this.#ending();
    if (control.drain.aborted) return this.#context.interrupted();
    if (!shift.settings.stream) {
      await this.#close();
      return undefined;
    }
    if (this.#pauseLeft === 0) {
      if (!this.#context.isLeft(snapshot)) return this.#context.finished(snapshot);
      await this.#slots.waitForWorkers(control.drain);
      return undefined;
    }
    await this.#pause?.wait(control.drain);
    return undefined;
  }

  async #settle({ item, end, compacted }: ItemEnd): Promise<void> {
    const { patience } = this.#context;
    if (end === 'left') {
      this.#context.leftOrders++;
      return;
    }
    this.#context.dispatched++;
    if (end === 'done' || end === 'failed') patience.progress();
    else if (typeof end === 'object' && end.trouble) this.#pauseFor(end.trouble);
    if (end === 'done' || end === 'failed') this.#foldSoon(item.task);
    this.#isReportDue = true;
    if (compacted) await this.#report(true);
  }

  /** Beside running items: a manager's agent that thinks for minutes must not leave slots empty. */
  #foldSoon({ name }: Task): void {
    const { control, history, dispatched } = this.#context;
    if (history.unsettled(name).size + history.votes(name).length === 0) return;
    this.#folding = this.#folding.then(async () => {
      if (!control.isHalted) await foldLessons(this.#context, name, dispatched);
    });
    // An error counts once nothing is running; until then it must not end the process.
    this.#folding.catch(() => {});
  }

  #pauseFor(trouble: Trouble): void {
    // The other workers go on.
    if (trouble.isWorker) return;
    const isKnown = this.#pauseLeft > 0 && trouble.remedy === undefined && trouble.until === undefined;
    if (isKnown) return;
    const next = this.#context.endure(trouble);
    if (typeof next === 'object') this.#ending ??= () => next;
    else if (next > this.#pauseLeft) this.#pause = new Pause(this.#context.ports.clock, next, trouble.until);
  }

  async #report(compacted: boolean): Promise<void> {
    // Releases the snapshot, whose table may be large, before anything is written.
    const counts = await this.#orEndLater(async () => countProgress(await this.#context.store.snapshot()));
    if (counts) await this.#writeProgress(counts, compacted);
    else this.#isReportDue = false;
  }

  async #writeProgress(counts: Progress, compacted: boolean): Promise<void> {
    this.#isReportDue = false;
    if (this.#isLost) return;
    this.#progressAt = this.#context.ports.clock.elapsed();
    const { documents, ports, shift } = this.#context;
    const to = this.#slots.concurrency;
    const was = this.#knownSize;
    const isWritten = to !== was && isWholeShift(ports.scope.selection ?? {});
    try {
      const inForce = await documents.finishBatch(counts, isWritten ? { was, to } : undefined);
      if (isWritten) {
        this.#knownSize = inForce;
        if (inForce !== to) this.#slots.setConcurrency({ ...shift.settings, batchSize: inForce });
      }
    } catch (error) {
      // Unreadable (rule F6): the next claim ends the run, and running items continue.
      if (!isCurable(error)) throw error;
      this.#isReportDue = !this.#ending;
    }
    this.#context.report(counts, compacted);
  }

  /** Its watch must not consume what the watch of a batch should see. */
  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    await this.#folding.catch(() => {});
  }
}
