import type { Counts } from '../../core/model/events.ts';
import type { Trouble } from '../../core/model/model.ts';
import type { Task } from '../../core/model/shift.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { isWholeShift } from '../../core/schedule/selection.ts';
import type { Course } from '../context.ts';
import { isCurable } from '../file-patience.ts';
import { foldLessons } from '../learning.ts';
import { Pause } from '../pause.ts';
import type { RunEnd } from '../ports.ts';
import type { FlightEnd } from './lease.ts';
import { Stream } from './slots.ts';

/** Progress is written when something ended, but not more often than this. */
const PROGRESS_EVERY_MS = 500;
/** While there is room, added rows and changed settings are looked for this often, also when nothing ends. */
const LOOK_EVERY_MS = 1000;

/** Dispatch without the barrier of batches (rule X7): a free slot is refilled at once. */
export class Streaming implements AsyncDisposable {
  readonly #course: Course;
  /** Made with the first turn: it watches the files from then on. */
  #opened: Stream | undefined;
  /** Nothing more is claimed; how the run ends, or fails, once what is in flight has ended. */
  #ending: (() => RunEnd) | undefined;
  /** The manager can't confirm what it works on (rule M6): it writes nothing more to the manifest. */
  #isLost = false;
  #pause: Pause | undefined;
  #progressAt = 0;
  /** Something has ended since Progress was written. */
  #isReportDue = false;
  #folding: Promise<void> = Promise.resolve();
  /** Reading the Steps for a claim, and writing them, one after the other. */
  #stepsInUse: Promise<unknown> = Promise.resolve();
  /** What `current-batch-size` held when we last saw or wrote it; anything else is a person's. */
  #knownSize: number | undefined;

  constructor(course: Course) {
    this.#course = course;
  }

  /** It has begun, and what it began has not ended. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  /** Nothing of it runs, and nothing of it is to be written. */
  get isIdle(): boolean {
    return !this.#opened || (this.#opened.size === 0 && !this.#isReportDue && !this.#ending);
  }

  get #stream(): Stream {
    if (!this.#opened) {
      this.#opened = new Stream(this.#course.parts, this.#course.shift);
      this.#knownSize = this.#course.shift.settings.batchSize;
    }
    return this.#opened;
  }

  /** Refills what is free, then waits for one item to end. */
  async turn(): Promise<RunEnd | undefined> {
    const { parts, shift } = this.#course;
    const { stop, clock } = parts;
    const mayClaim = !stop.isHalted && !this.#ending && shift.settings.stream;
    if (mayClaim && this.#stream.hasRoom && this.#pauseLeft === 0) await this.#refill();
    if (this.#stream.size === 0) return this.#idle();
    // After the refill: a free slot does not wait for the disk.
    if (this.#isReportDue && clock.elapsed() - this.#progressAt >= PROGRESS_EVERY_MS) {
      await this.#writeProgress(await this.#count(), false);
    }
    for (const landed of await this.#stream.next(this.#waitAtMost())) await this.#landed(landed);
    return undefined;
  }

  /** How long nothing may end before there is something else to do. */
  #waitAtMost(): number | undefined {
    const now = this.#course.parts.clock.elapsed();
    const waits: number[] = [];
    if (this.#pauseLeft > 0) waits.push(Math.min(this.#pauseLeft, LOOK_EVERY_MS));
    else if (this.#stream.hasRoom) waits.push(LOOK_EVERY_MS);
    if (this.#isReportDue) waits.push(Math.max(0, this.#progressAt + PROGRESS_EVERY_MS - now));
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  get #pauseLeft(): number {
    return this.#pause?.left ?? 0;
  }

  async #refill(): Promise<void> {
    const { parts } = this.#course;
    // Before the files are read: what was edited in flight is put back first.
    await this.#stream.look();
    if (!(await this.#reload())) return;
    const { shift } = this.#course;
    if (parts.stop.isHalted || !shift.settings.stream) return;
    const { batchSize, maxBatchSize } = shift.settings;
    if (batchSize !== this.#knownSize) this.#stream.setLimit(shift.settings);
    else this.#stream.setLimit({ batchSize: this.#stream.limit, maxBatchSize });
    this.#knownSize = batchSize;
    await this.#stream.fill(shift, await parts.store.snapshot(), parts.select);
  }

  /** Whether the files could be read and are still ours; if not, what is in flight may end, and then the run does. */
  async #reload(): Promise<boolean> {
    try {
      const lost = await this.#alone(() => this.#course.reload());
      if (!lost) return true;
      this.#isLost = true;
      this.#ending = () => lost;
    } catch (error) {
      this.#ending = () => {
        throw error;
      };
    }
    return false;
  }

  readonly #alone = <T>(use: () => Promise<T>): Promise<T> => {
    const turn = this.#stepsInUse.then(use);
    this.#stepsInUse = turn.catch(() => {});
    return turn;
  };

  /** Nothing is in flight: the end, or a pause. */
  async #idle(): Promise<RunEnd | undefined> {
    const { parts, shift } = this.#course;
    const { stop, store } = parts;
    await this.#folding;
    const snapshot = await store.snapshot();
    if (this.#isReportDue) await this.#writeProgress(countItems(snapshot), false);
    if (this.#ending) return this.#ending();
    if (stop.drain.aborted) return this.#course.interrupted();
    if (!shift.settings.stream) {
      await this.#close();
      return undefined;
    }
    if (this.#pauseLeft === 0) return this.#course.isLeft(snapshot) ? undefined : this.#course.finished(snapshot);
    await this.#pause?.wait(stop.drain);
    return undefined;
  }

  async #landed({ flight, end, compacted }: FlightEnd): Promise<void> {
    const { patience } = this.#course;
    this.#course.dispatched++;
    if (end === 'done' || end === 'failed') patience.progress();
    else if (typeof end === 'object' && end.trouble) this.#pauseFor(end.trouble);
    if (end === 'done') this.#foldSoon(flight.task);
    this.#isReportDue = true;
    if (compacted) await this.#writeProgress(await this.#count(), true);
  }

  /** Beside what is in flight: a manager's agent that thinks for minutes must not leave slots empty. */
  #foldSoon({ name }: Task): void {
    const { parts, dispatched } = this.#course;
    if (parts.history.unsettled(name).size === 0) return;
    this.#folding = this.#folding.then(async () => {
      if (parts.stop.isHalted) return;
      // As the lesson before left it. What can't be read now (somebody is just saving) is tried with the next item.
      const shift = await parts.load().catch(() => undefined);
      const task = shift?.tasks.find((each) => each.name === name);
      if (shift && task) {
        const alone = { alone: this.#alone };
        await foldLessons({ ...parts, ...alone }, shift, task, await parts.store.snapshot(), dispatched);
      }
    });
    // Told when nothing is in flight any more; until then it must not end the process.
    this.#folding.catch(() => {});
  }

  #pauseFor(trouble: Trouble): void {
    const { parts } = this.#course;
    const isKnown = this.#pauseLeft > 0 && trouble.remedy === undefined && trouble.until === undefined;
    if (isKnown) return;
    const next = this.#course.endure(trouble);
    if (typeof next === 'object') this.#ending ??= () => next;
    else if (next > this.#pauseLeft) this.#pause = new Pause(parts.clock, next, trouble.until);
  }

  /** Lets go of the snapshot, whose table may be large, before anything is written. */
  async #count(): Promise<Counts> {
    return countItems(await this.#course.parts.store.snapshot());
  }

  async #writeProgress(counts: Counts, compacted: boolean): Promise<void> {
    this.#isReportDue = false;
    if (this.#isLost) return;
    this.#progressAt = this.#course.parts.clock.elapsed();
    const { parts, shift } = this.#course;
    const to = this.#stream.limit;
    const was = this.#knownSize;
    const isWritten = to !== was && isWholeShift(parts.selection ?? {});
    try {
      const inForce = await parts.documents.finishBatch(counts, isWritten ? { was, to } : undefined);
      if (isWritten) {
        this.#knownSize = inForce;
        if (inForce !== to) this.#stream.setLimit({ ...shift.settings, batchSize: inForce });
      }
    } catch (error) {
      // It can't be read (rule F6): who claims next ends the run, and what is in flight goes on.
      if (!isCurable(error)) throw error;
      this.#isReportDue = !this.#ending;
    }
    this.#course.report(counts, compacted);
  }

  /** Its watch must not take away what the watch of a batch should see. */
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
