import { adaptSize, startSize } from '../core/dispatch.ts';
import { type Batch, cellsAt, countItems, nextBatch, type Selection } from '../core/plan.ts';
import type { Task } from '../core/shift.ts';
import type { Snapshot } from '../store/store.ts';
import type { Course } from './course.ts';
import type { BatchEnd } from './run-state.ts';

/**
 * The two ends of a batch, whoever does what lies between: the engine's own loop, or somebody by hand
 * (`nightshift batch open` and `close`).
 */
export interface Turn {
  readonly task: Task;
  readonly rows: readonly number[];
  /** Nominal: a batch may be shorter (rule P3). */
  readonly size: number;
  /** They are at `qa` already, and only to be judged (rule T5). */
  readonly isWaiting: boolean;
}

/** Rules M2-M4, P1, P3, T5: what comes next; undefined when nothing is left. */
export function chooseTurn({ parts, shift }: Course, snapshot: Snapshot): Turn | undefined {
  const { settings, tasks } = shift;
  const selection = parts.select(snapshot);
  // What `current-batch-size` says: ours, or a person's, which is taken as it is (rule P4).
  const size = settings.parallel ? startSize(settings) : 1;
  const waiting = firstWaiting(snapshot, selection);
  const batch = waiting ?? nextBatch(snapshot, { parallel: settings.parallel, size }, selection);
  if (!batch) return undefined;
  const task = tasks.find(({ name }) => name === batch.task)!;
  return { task, rows: batch.rows, size, isWaiting: waiting !== undefined };
}

function firstWaiting(snapshot: Snapshot, selection: Selection): Batch | undefined {
  const cells = cellsAt(snapshot, 'qa', selection);
  const task = cells[0]?.task;
  if (task === undefined) return undefined;
  return { task, rows: cells.filter((cell) => cell.task === task).map(({ row }) => row) };
}

/** Rule P6, the end of a batch, when its lessons are folded in: size, Progress, report. */
export async function settleTurn(
  course: Course,
  { task, size: from, isWaiting }: Pick<Turn, 'task' | 'size' | 'isWaiting'>,
  end: BatchEnd,
  isCounted = true,
): Promise<void> {
  const { parts, shift } = course;
  const { parallel, batchSize: was, maxBatchSize } = shift.settings;
  const adapts = parallel && !isWaiting && isCounted;
  const { to, reason } = adapts
    ? adaptSize(from, end, maxBatchSize)
    : { to: from, reason: parallel ? '' : 'sequential' };
  const counts = countItems(await parts.store.snapshot());
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
  course.report(counts, compacted);
}
