import type { Task } from '../../core/model/shift.ts';
import { adaptSize, startSize } from '../../core/schedule/dispatch.ts';
import { chooseNext } from '../../core/schedule/next.ts';
import { countItems } from '../../core/schedule/plan.ts';
import { isWholeShift } from '../../core/schedule/selection.ts';
import type { Snapshot } from '../../store/store.ts';
import type { Course } from '../context.ts';
import type { BatchEnd, RunParts } from '../ports.ts';

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
export function chooseTurn(course: Course, snapshot: Snapshot): Turn | undefined {
  const { parts, shift } = course;
  const { settings, tasks } = shift;
  const size = settings.parallel ? sizeOf(course) : 1;
  const next = chooseNext({
    board: snapshot,
    selection: parts.select(snapshot),
    mode: settings.parallel ? 'batch' : 'sequential',
    room: size,
    deferred: deferredRows(parts, snapshot),
  });
  if (!next) return undefined;
  const task = tasks.find(({ name }) => name === next.task)!;
  return { task, rows: next.rows, size, isWaiting: next.role === 'qa' };
}

/** What `current-batch-size` says: ours, or a person's, which is taken as it is (rule P4). A part keeps its own. */
function sizeOf({ shift, ownSize }: Course): number {
  const { batchSize, maxBatchSize } = shift.settings;
  const isOwn = ownSize !== undefined && ownSize.inFile === batchSize;
  return startSize({ batchSize: isOwn ? ownSize.size : batchSize, maxBatchSize });
}

/** An item that always asks to be tried later must not hold up the rest (rule X5). */
export function deferredRows({ returns }: RunParts, snapshot: Snapshot): ReadonlySet<number> {
  return rowsOf(snapshot, returns.deferred);
}

export function rowsOf(snapshot: Snapshot, items: readonly string[]): ReadonlySet<number> {
  return new Set(items.flatMap((id) => snapshot.rowOf(id) ?? []));
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
  const isWritten = adapts && isWholeShift(parts.selection ?? {});
  if (adapts && !isWritten) course.ownSize = { size: to, inFile: was };
  const inForce = await parts.documents.finishBatch(counts, isWritten ? { was, to } : undefined);
  const isTheirs = isWritten && inForce !== to;
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
