import { setTimeout as sleep } from 'node:timers/promises';
import { NightshiftError } from '../core/errors.ts';
import type { Counts } from '../core/events.ts';
import type { Trouble } from '../core/model.ts';
import { countItems } from '../core/plan.ts';
import type { Task } from '../core/shift.ts';
import type { Course } from './course.ts';
import type { FlightEnd } from './flight.ts';
import { foldLessons } from './lessons.ts';
import type { RunEnd } from './run-state.ts';
import { Stream } from './stream.ts';

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
  #pausedUntil = 0;
  #progressAt = 0;
  /** Something has ended since Progress was written. */
  #isReportDue = false;
  #folding: Promise<void> = Promise.resolve();
  /** What `current-batch-size` held when we last saw or wrote it; anything else is a person's. */
  #knownSize: number | undefined;

  constructor(course: Course) {
    this.#course = course;
  }

  /** It has begun, and what it began has not ended. */
  get isOpen(): boolean {
    return this.#opened !== undefined;
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
    const { stop, now } = parts;
    const mayClaim = !stop.drain.aborted && !stop.now.aborted && !this.#ending && shift.settings.stream;
    if (mayClaim && this.#stream.hasRoom && now() >= this.#pausedUntil) await this.#refill();
    if (this.#stream.size === 0) return this.#idle();
    // After the refill: a free slot does not wait for the disk.
    if (this.#isReportDue && now() - this.#progressAt >= PROGRESS_EVERY_MS) {
      await this.#writeProgress(await this.#count(), false);
    }
    for (const landed of await this.#stream.next(this.#waitAtMost())) await this.#landed(landed);
    return undefined;
  }

  /** How long nothing may end before there is something else to do. */
  #waitAtMost(): number | undefined {
    const now = this.#course.parts.now();
    const waits: number[] = [];
    if (this.#pausedUntil > now) waits.push(this.#pausedUntil - now);
    else if (this.#stream.hasRoom) waits.push(LOOK_EVERY_MS);
    if (this.#isReportDue) waits.push(Math.max(0, this.#progressAt + PROGRESS_EVERY_MS - now));
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  async #refill(): Promise<void> {
    const { parts } = this.#course;
    // Before the files are read: what was edited in flight is put back first.
    await this.#stream.look();
    if (!(await this.#reload())) return;
    const { shift } = this.#course;
    // Edited since the look: new items would be judged by another Validation. The next look puts it back.
    if (parts.stop.drain.aborted || !shift.settings.stream || !this.#stream.agreesWith(shift)) return;
    const { batchSize, maxBatchSize } = shift.settings;
    if (batchSize !== this.#knownSize) this.#stream.setLimit(shift.settings);
    else this.#stream.setLimit({ batchSize: this.#stream.limit, maxBatchSize });
    this.#knownSize = batchSize;
    await this.#stream.fill(shift, await parts.store.snapshot(), parts.select);
  }

  /** Whether the files could be read and are still ours; if not, what is in flight may end, and then the run does. */
  async #reload(): Promise<boolean> {
    try {
      const lost = await this.#course.reload();
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

  /** Nothing is in flight: the end, or a pause. */
  async #idle(): Promise<RunEnd | undefined> {
    const { parts, shift } = this.#course;
    const { stop, store, now } = parts;
    await this.#folding;
    const snapshot = await store.snapshot();
    if (this.#isReportDue) await this.#writeProgress(countItems(snapshot), false);
    if (this.#ending) return this.#ending();
    if (stop.drain.aborted || stop.now.aborted) return this.#course.interrupted();
    if (!shift.settings.stream) {
      await this.#close();
      return undefined;
    }
    const pause = this.#pausedUntil - now();
    if (pause <= 0) return this.#course.isLeft(snapshot) ? undefined : this.#course.finished(snapshot);
    await sleep(pause, undefined, { signal: stop.drain }).catch(() => {});
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
      if (parts.stop.drain.aborted) return;
      // As the lesson before left it. What can't be read now (somebody is just saving) is tried with the next item.
      const shift = await parts.load().catch(() => undefined);
      const task = shift?.tasks.find((each) => each.name === name);
      if (shift && task) {
        await foldLessons(parts, shift, task, await parts.store.snapshot(), dispatched);
      }
    });
    // Told when nothing is in flight any more; until then it must not end the process.
    this.#folding.catch(() => {});
  }

  #pauseFor(trouble: Trouble): void {
    const { parts } = this.#course;
    const isKnown = this.#pausedUntil > parts.now() && trouble.remedy === undefined && trouble.until === undefined;
    if (isKnown) return;
    const next = this.#course.endure(trouble);
    if (typeof next === 'object') this.#ending ??= () => next;
    else this.#pausedUntil = Math.max(this.#pausedUntil, parts.now() + next);
  }

  /** Lets go of the snapshot, whose table may be large, before anything is written. */
  async #count(): Promise<Counts> {
    return countItems(await this.#course.parts.store.snapshot());
  }

  async #writeProgress(counts: Counts, compacted: boolean): Promise<void> {
    this.#isReportDue = false;
    if (this.#isLost) return;
    this.#progressAt = this.#course.parts.now();
    const { parts, shift } = this.#course;
    const to = this.#stream.limit;
    const was = this.#knownSize;
    try {
      const inForce = await parts.documents.finishBatch(counts, to === was ? undefined : { was, to });
      if (to !== was) {
        this.#knownSize = inForce;
        if (inForce !== to) this.#stream.setLimit({ ...shift.settings, batchSize: inForce });
      }
    } catch (error) {
      // Somebody may just be saving it (rule F6): who claims next finds out, and what is in flight goes on.
      if (!(error instanceof NightshiftError && error.code === 'bad-manager')) throw error;
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
