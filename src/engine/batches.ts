import { setTimeout as sleep } from 'node:timers/promises';
import { adaptSize, startSize } from '../core/dispatch.ts';
import { type Batch, cellsAt, countItems, nextBatch } from '../core/plan.ts';
import type { Task } from '../core/shift.ts';
import type { Snapshot } from '../store/store.ts';
import { judgeWaiting, runBatch } from './batch.ts';
import type { Course } from './course.ts';
import { foldLessons } from './lessons.ts';
import { type BatchEnd, NOTHING, type RunEnd } from './run-state.ts';

/** Dispatch as the specification has it: a batch, wait for all of it, the next one (rules M2, M3, P1-P8). */
export class Batches {
  readonly #course: Course;

  constructor(course: Course) {
    this.#course = course;
  }

  /** One batch; how the run ended, if it did. */
  async turn(): Promise<RunEnd | undefined> {
    const { parts } = this.#course;
    if (parts.stop.now.aborted || parts.stop.drain.aborted) return this.#course.interrupted();
    const lost = await this.#course.reload();
    if (lost) return lost;
    if (parts.stop.drain.aborted) return this.#course.interrupted();
    const { shift } = this.#course;
    const snapshot = await parts.store.snapshot();
    const selection = parts.select(snapshot);
    const waiting = this.#firstWaiting(snapshot);
    const size = this.#size();
    const batch = waiting ?? nextBatch(snapshot, { parallel: shift.settings.parallel, size }, selection);
    if (!batch) return this.#course.finished(snapshot);
    const task = shift.tasks.find(({ name }) => name === batch.task)!;
    this.#course.dispatched++;
    const end = waiting
      ? await judgeWaiting(parts, shift, task, snapshot, batch.rows)
      : await runBatch(parts, shift, task, snapshot, batch.rows, size);
    await this.#finish(task, size, end, waiting !== undefined);
    return this.#waitOutTrouble(end);
  }

  /** What `current-batch-size` says: ours, or a person's, which is taken as it is (rule P4). */
  #size(): number {
    const { settings } = this.#course.shift;
    return settings.parallel ? startSize(settings) : 1;
  }

  #firstWaiting(snapshot: Snapshot): Batch | undefined {
    const cells = cellsAt(snapshot, 'qa', this.#course.parts.select(snapshot));
    const task = cells[0]?.task;
    if (task === undefined) return undefined;
    return { task, rows: cells.filter((cell) => cell.task === task).map(({ row }) => row) };
  }

  /** Rule P6, the end of a batch: lessons, size, Progress, report. */
  async #finish(task: Task, from: number, end: BatchEnd, waiting: boolean): Promise<void> {
    const { parts, shift, dispatched } = this.#course;
    const snapshot = await parts.store.snapshot();
    // Once the run is to end nothing new is started; recommendations wait for the next start (rule P8).
    if (!parts.stop.drain.aborted) await foldLessons(parts, shift, task, snapshot, dispatched);
    const { parallel, batchSize: was, maxBatchSize } = shift.settings;
    const adapts = parallel && !waiting && !parts.stop.now.aborted && end !== NOTHING;
    const { to, reason } = adapts
      ? adaptSize(from, end, maxBatchSize)
      : { to: from, reason: parallel ? '' : 'sequential' };
    const counts = countItems(snapshot);
    const inForce = await parts.documents.finishBatch(counts, adapts ? { was, to } : undefined);
    const isTheirs = adapts && inForce !== to;
    const { done, failed, returned, compacted } = end;
    parts.emit({
      type: 'batch:finished',
      task: task.name,
      from,
      to: isTheirs ? startSize({ batchSize: inForce, maxBatchSize }) : to,
      reason: isTheirs ? 'set by a person' : reason,
      done,
      failed,
      returned,
    });
    this.#course.report(counts, compacted);
  }

  /** Rule X5: growing pauses while nothing moves, and an end to them. */
  async #waitOutTrouble(end: BatchEnd): Promise<RunEnd | undefined> {
    const { parts, patience } = this.#course;
    if (end.done + end.failed > 0) patience.progress();
    if (end.trouble === undefined || parts.stop.drain.aborted) return undefined;
    const next = this.#course.endure(end.trouble);
    if (typeof next === 'object') return next;
    await sleep(next, undefined, { signal: parts.stop.drain }).catch(() => {});
    return undefined;
  }
}
