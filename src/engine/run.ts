import { setTimeout as sleep } from 'node:timers/promises';
import { adaptSize, startSize } from '../core/dispatch.ts';
import { EXIT, NightshiftError } from '../core/errors.ts';
import { type Batch, cellsAt, countItems, nextBatch, type Selection } from '../core/plan.ts';
import type { Shift, Task } from '../core/shift.ts';
import type { Snapshot } from '../store/store.ts';
import { judgeWaiting, runBatch } from './batch.ts';
import { foldLessons } from './lessons.ts';
import { type BatchEnd, NOTHING, type RunEnd, type RunParts } from './run-state.ts';

/** Rule F6: what does not parse between two batches may just be half saved. */
const REREAD_FOR_MS = 10_000;
const REREAD_EVERY_MS = 250;
/** Rule X5: the pauses while trouble is not the items' fault. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

/**
 * The manager: reads, decides, dispatches, and writes down what it decided. Only here it is decided what is dispatched.
 * Interrupted at any moment, the next run goes on from the files.
 */
export async function runShift(parts: RunParts, first: Shift): Promise<RunEnd> {
  const run = new Run(parts, first, await parts.documents.folderId());
  await run.recover();
  for (;;) {
    const end = await run.next();
    if (end) return end;
  }
}

class Run {
  readonly #parts: RunParts;
  readonly #folderId: string;
  #shift: Shift;
  #size: number;
  #pauseMs = FIRST_PAUSE_MS;
  #lastProgress: number;
  #isFirst = true;
  #batches = 0;
  #progress = { done: 0, total: 0 };

  constructor(parts: RunParts, shift: Shift, folderId: string) {
    this.#parts = parts;
    this.#shift = shift;
    this.#folderId = folderId;
    this.#size = startSize(shift.settings);
    this.#lastProgress = parts.now();
  }

  /** Rule T5: what was in progress when the last run ended goes back; nothing of that run lives on. */
  async recover(): Promise<void> {
    const [parts, shift] = [this.#parts, this.#shift];
    const leftovers = await parts.endLeftovers();
    if (leftovers > 0) {
      parts.emit({ type: 'run:warning', message: `ended ${leftovers} processes that an earlier run had left` });
    }
    const snapshot = await parts.store.snapshot();
    const stale = cellsAt(snapshot, 'in_progress');
    await parts.store.reset(stale.map(({ row, task }) => ({ id: snapshot.id(row), task })));
    parts.emit({
      type: 'run:started',
      total: snapshot.count,
      tasks: shift.tasks.map(({ name }) => name),
      parallel: shift.settings.parallel,
      agent: [...new Set(shift.tasks.map(({ settings }) => settings.agent))].join(', '),
      pid: process.pid,
      recovered: stale.length,
      waiting: cellsAt(snapshot, 'qa').length,
    });
    // Recommendations of items that passed just before an interruption; where nothing is left, no agent is started.
    const now = await parts.store.snapshot();
    if (!this.#isLeft(now)) return;
    for (const task of shift.tasks) {
      if (parts.history.unsettled(task.name).size === 0) continue;
      await foldLessons(parts, shift, task, now, 0);
      // The first batch is given the new Steps too.
      this.#isFirst = false;
    }
  }

  /** One turn of the loop; how the run ended, if it did. */
  async next(): Promise<RunEnd | undefined> {
    const { stop } = this.#parts;
    if (stop.now.aborted || stop.drain.aborted) return this.#interrupted();
    const lost = await this.#reload();
    if (lost) return lost;
    const snapshot = await this.#parts.store.snapshot();
    const selection = this.#parts.select(snapshot);
    const waiting = this.#firstWaiting(snapshot, selection);
    const batch =
      waiting ?? nextBatch(snapshot, { parallel: this.#shift.settings.parallel, size: this.#size }, selection);
    if (!batch) return this.#finished(snapshot, selection);
    const task = this.#shift.tasks.find(({ name }) => name === batch.task)!;
    this.#batches++;
    const end = waiting
      ? await judgeWaiting(this.#parts, this.#shift, task, snapshot, batch.rows)
      : await runBatch(this.#parts, this.#shift, task, snapshot, batch.rows, this.#sizeNow());
    await this.#finishBatch(task, end, waiting !== undefined);
    return this.#waitOutTrouble(end);
  }

  #sizeNow(): number {
    return this.#shift.settings.parallel ? this.#size : 1;
  }

  #firstWaiting(snapshot: Snapshot, selection: Selection): Batch | undefined {
    const cells = cellsAt(snapshot, 'qa', selection);
    const task = cells[0]?.task;
    if (task === undefined) return undefined;
    return { task, rows: cells.filter((cell) => cell.task === task).map(({ row }) => row) };
  }

  /** Rules M1 and M6: what changed is read again, and the manager makes sure that it still knows where it is. */
  async #reload(): Promise<RunEnd | undefined> {
    if (this.#isFirst) {
      this.#isFirst = false;
      return undefined;
    }
    const end = performance.now() + REREAD_FOR_MS;
    for (;;) {
      try {
        if ((await this.#parts.documents.folderId()) !== this.#folderId)
          return this.#lostContext('its folder is another one now');
        const shift = await this.#parts.load();
        const { name } = shift.settings;
        if (name !== undefined && name !== shift.name) return this.#lostContext(`manager.md now has the name ${name}`);
        if (name === undefined && this.#shift.settings.name !== undefined) {
          return this.#lostContext('manager.md has lost its name');
        }
        if (shift.tasks.length === 0) return this.#lostContext('the Task Order is empty now');
        this.#adopt(shift);
        return undefined;
      } catch (error) {
        if (!(error instanceof NightshiftError) || performance.now() >= end) throw error;
        await sleep(REREAD_EVERY_MS);
      }
    }
  }

  #adopt(shift: Shift): void {
    for (const warning of shift.warnings) {
      if (!this.#shift.warnings.includes(warning)) this.#parts.emit({ type: 'run:warning', message: warning });
    }
    this.#shift = shift;
    // A person's value is taken as it is (rule P4).
    if (shift.settings.parallel) this.#size = startSize(shift.settings);
  }

  #lostContext(why: string): RunEnd {
    const message = `the manager can't confirm what it works on: ${why}. Nothing was claimed.`;
    this.#parts.emit({ type: 'run:warning', message });
    this.#parts.emit({ type: 'progress', ...this.#progress, compacted: true });
    return { exitCode: EXIT.stopped, reason: message };
  }

  /** Rule P6, the end of a batch: lessons, size, Progress, report. */
  async #finishBatch(task: Task, end: BatchEnd, waiting: boolean): Promise<void> {
    const { store, documents, emit, stop } = this.#parts;
    const snapshot = await store.snapshot();
    if (!stop.now.aborted) await foldLessons(this.#parts, this.#shift, task, snapshot, this.#batches);
    const { parallel, batchSize: was, maxBatchSize } = this.#shift.settings;
    const from = this.#sizeNow();
    const adapts = parallel && !waiting && !stop.now.aborted && end !== NOTHING;
    const { to, reason } = adapts
      ? adaptSize(from, end, maxBatchSize)
      : { to: from, reason: parallel ? '' : 'sequential' };
    const counts = countItems(snapshot);
    const inForce = await documents.finishBatch(counts, adapts ? { was, to } : undefined);
    const theirs = adapts && inForce !== to;
    if (adapts) this.#size = startSize({ batchSize: inForce, maxBatchSize });
    const { done, failed, returned, compacted } = end;
    emit({
      type: 'batch:finished',
      task: task.name,
      from,
      to: this.#sizeNow(),
      reason: theirs ? 'set by a person' : reason,
      done,
      failed,
      returned,
    });
    this.#progress = { done: counts.completed, total: counts.total };
    emit({ type: 'progress', ...this.#progress, compacted });
  }

  /** Rule X5: growing pauses while nothing moves, and an end to them. */
  async #waitOutTrouble(end: BatchEnd): Promise<RunEnd | undefined> {
    const { now, emit, stop } = this.#parts;
    if (end.done + end.failed > 0) {
      this.#lastProgress = now();
      this.#pauseMs = FIRST_PAUSE_MS;
    }
    if (end.trouble === undefined || stop.drain.aborted) return undefined;
    const { patienceMs } = this.#shift.settings;
    const left = patienceMs - (now() - this.#lastProgress);
    if (left <= 0) {
      const reason = `no progress for ${Math.round(patienceMs / 1000)} seconds, and it is not the items' fault: ${end.trouble}`;
      return { exitCode: EXIT.stopped, reason };
    }
    const ms = Math.min(this.#pauseMs, left);
    emit({ type: 'run:waiting', ms, reason: end.trouble });
    await sleep(ms, undefined, { signal: stop.drain }).catch(() => {});
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    return undefined;
  }

  async #interrupted(): Promise<RunEnd> {
    const snapshot = await this.#parts.store.snapshot();
    if (!this.#isLeft(snapshot)) return this.#finished(snapshot, this.#parts.select(snapshot));
    return { exitCode: EXIT.interrupted, reason: 'interrupted' };
  }

  #isLeft(snapshot: Snapshot): boolean {
    const selection = this.#parts.select(snapshot);
    return (
      nextBatch(snapshot, { parallel: true, size: 1 }, selection) !== undefined ||
      cellsAt(snapshot, 'qa', selection).length > 0
    );
  }

  /** An earlier run may have been killed before it wrote the Progress of its last batch. */
  async #finished(snapshot: Snapshot, selection: Selection): Promise<RunEnd> {
    await this.#parts.documents.finishBatch(countItems(snapshot), undefined);
    const failed = cellsAt(snapshot, 'failed', selection).length;
    if (failed > 0) return { exitCode: EXIT.failedItems, reason: 'finished, with failed items' };
    const { total, completed } = countItems(snapshot);
    if (this.#batches === 0 && completed === total) return { exitCode: EXIT.done, reason: 'already complete' };
    return { exitCode: EXIT.done, reason: 'finished' };
  }
}
