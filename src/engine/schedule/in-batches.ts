import type { Course } from '../context.ts';
import { foldLessons } from '../learning.ts';
import { Pause } from '../pause.ts';
import { type BatchEnd, NOTHING, type RunEnd } from '../ports.ts';
import { judgeWaiting, runBatch } from './batch.ts';
import { chooseTurn, settleTurn } from './batch-turn.ts';

/** Runs one batch after the other: start a batch, wait for all of it, start the next one (rules M2, M3, P1-P8). */
export class Batches {
  readonly #course: Course;

  constructor(course: Course) {
    this.#course = course;
  }

  /** One batch; how the run ended, if it did. */
  async turn(): Promise<RunEnd | undefined> {
    const { parts } = this.#course;
    if (parts.stop.drain.aborted) return this.#course.interrupted();
    const lost = await this.#course.reload();
    if (lost) return lost;
    if (parts.stop.drain.aborted) return this.#course.interrupted();
    const { shift } = this.#course;
    const snapshot = await parts.store.snapshot();
    const turn = chooseTurn(this.#course, snapshot);
    if (!turn) return this.#course.finished(snapshot);
    this.#course.dispatched++;
    const end = turn.isWaiting
      ? await judgeWaiting(parts, shift, turn.task, snapshot, turn.rows)
      : await runBatch(parts, shift, turn.task, snapshot, turn.rows, turn.size);
    // In a run that is to end or to pause nothing new starts: recommendations wait (rule P8).
    if (!parts.stop.isHalted) {
      await foldLessons(parts, shift, turn.task, await parts.store.snapshot(), this.#course.dispatched);
    }
    await settleTurn(this.#course, turn, end, !parts.stop.interrupt.aborted && end !== NOTHING);
    return this.#waitOutTrouble(end);
  }

  /** Rule X5: growing pauses while nothing moves, and an end to them. */
  async #waitOutTrouble(end: BatchEnd): Promise<RunEnd | undefined> {
    const { parts, patience } = this.#course;
    if (end.done + end.failed > 0) patience.progress();
    if (end.trouble === undefined || parts.stop.drain.aborted) return undefined;
    const next = this.#course.endure(end.trouble);
    if (typeof next === 'object') return next;
    const pause = new Pause(parts.clock, next, end.trouble.until);
    while (pause.left > 0 && !parts.stop.drain.aborted) {
      await parts.stop.resumed();
      await pause.wait(parts.stop.drain);
    }
    return undefined;
  }
}
