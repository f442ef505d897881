import { setTimeout as sleep } from 'node:timers/promises';
import { countItems } from '../core/plan.ts';
import type { Task } from '../core/shift.ts';
import type { Snapshot } from '../store/store.ts';
import type { Course } from './course.ts';
import type { FlightEnd } from './flight.ts';
import { foldLessons } from './lessons.ts';
import type { RunEnd } from './run-state.ts';
import { Stream } from './stream.ts';

/** Progress is written when something ended, but not more often than this. */
const PROGRESS_EVERY_MS = 500;

/** Dispatch without the barrier of batches (rule X7): a free slot is refilled at once. */
export class Streaming implements AsyncDisposable {
  readonly #course: Course;
  /** Made with the first turn: it watches the files from then on. */
  #opened: Stream | undefined;
  /** Why nothing more is claimed, once what is in flight has ended. */
  #ending: RunEnd | undefined;
  #pausedUntil = 0;
  #progressAt = 0;
  #folding: Promise<void> = Promise.resolve();
  /** What `current-batch-size` held when we last saw or wrote it; anything else is a person's. */
  #knownSize: number | undefined;

  constructor(course: Course) {
    this.#course = course;
  }

  get isBusy(): boolean {
    return (this.#opened?.size ?? 0) > 0;
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
    if (!this.isBusy) return this.#idle();
    const pause = this.#pausedUntil - now();
    for (const landed of await this.#stream.next(pause > 0 ? pause : undefined)) await this.#landed(landed);
    return undefined;
  }

  async #refill(): Promise<void> {
    const { parts } = this.#course;
    // Before the files are read: what was edited in flight is put back first.
    await this.#stream.look();
    this.#ending = await this.#course.reload();
    if (this.#ending) return;
    const { shift } = this.#course;
    if (shift.settings.batchSize !== this.#knownSize) {
      this.#knownSize = shift.settings.batchSize;
      this.#stream.setLimit(shift.settings);
    }
    await this.#stream.fill(shift, await parts.store.snapshot(), parts.select);
  }

  /** Nothing is in flight: the end, or a pause. */
  async #idle(): Promise<RunEnd | undefined> {
    const { parts, shift } = this.#course;
    const { stop, store, now } = parts;
    await this.#folding;
    const snapshot = await store.snapshot();
    await this.#writeProgress(snapshot, false);
    if (this.#ending) return this.#ending;
    if (stop.drain.aborted || stop.now.aborted) return this.#course.interrupted();
    if (!shift.settings.stream) return undefined;
    const pause = this.#pausedUntil - now();
    if (pause <= 0) return this.#course.isLeft(snapshot) ? undefined : this.#course.finished(snapshot);
    await sleep(pause, undefined, { signal: stop.drain }).catch(() => {});
    return undefined;
  }

  async #landed({ flight, end, compacted }: FlightEnd): Promise<void> {
    const { parts, patience } = this.#course;
    this.#course.dispatched++;
    if (end === 'done' || end === 'failed') patience.progress();
    else if (typeof end === 'object' && end.trouble) this.#pauseFor(end.returned);
    if (end === 'done') this.#foldSoon(flight.task);
    if (compacted || parts.now() - this.#progressAt >= PROGRESS_EVERY_MS) {
      await this.#writeProgress(await parts.store.snapshot(), compacted);
    }
  }

  /** Beside what is in flight: a manager's agent that thinks for minutes must not leave slots empty. */
  #foldSoon({ name }: Task): void {
    const { parts, dispatched } = this.#course;
    if (parts.history.unsettled(name).size === 0) return;
    this.#folding = this.#folding.then(async () => {
      const { shift } = this.#course;
      const task = shift.tasks.find((each) => each.name === name);
      if (task && !parts.stop.drain.aborted) {
        await foldLessons(parts, shift, task, await parts.store.snapshot(), dispatched);
      }
    });
    // Told when nothing is in flight any more; until then it must not end the process.
    this.#folding.catch(() => {});
  }

  #pauseFor(trouble: string): void {
    const { parts, patience, shift } = this.#course;
    if (this.#pausedUntil > parts.now()) return;
    const ms = patience.pause(shift.settings.patienceMs);
    if (ms === undefined) {
      this.#ending ??= this.#course.outOfPatience(trouble);
      return;
    }
    parts.emit({ type: 'run:waiting', ms, reason: trouble });
    this.#pausedUntil = parts.now() + ms;
  }

  async #writeProgress(snapshot: Snapshot, compacted: boolean): Promise<void> {
    const { parts, shift } = this.#course;
    const counts = countItems(snapshot);
    const to = this.#stream.limit;
    const was = this.#knownSize;
    const inForce = await parts.documents.finishBatch(counts, to === was ? undefined : { was, to });
    if (to !== was) {
      this.#knownSize = inForce;
      if (inForce !== to) this.#stream.setLimit({ ...shift.settings, batchSize: inForce });
    }
    this.#progressAt = parts.now();
    this.#course.report(counts, compacted);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
    await this.#folding.catch(() => {});
  }
}
