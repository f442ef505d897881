import type { Task } from '../../core/model/shift.ts';
import { adaptSize, startSize } from '../../core/schedule/concurrency.ts';
import { chooseNext, type Next } from '../../core/schedule/next.ts';
import { countProgress } from '../../core/schedule/plan.ts';
import { isWholeShift } from '../../core/schedule/selection.ts';
import type { Snapshot } from '../../store/store.ts';
import type { RunContext } from '../context.ts';
import type { BatchEnd } from '../ports.ts';

/** One batch: chosen and finished here, also for batches by hand (`nightshift batch open` and `close`). */
export interface Turn {
  readonly task: Task;
  readonly rows: readonly number[];
  /** Nominal: a batch may be shorter (rule P3). */
  readonly size: number;
  /** Its items are at `qa` and only need their qa (rule T5). */
  readonly isWaiting: boolean;
}

/** Rules M2-M4, P1, P3, T5: what comes next; undefined when nothing is left. */
export function chooseTurn(context: RunContext, snapshot: Snapshot): Turn | undefined {
  const { settings, tasks } = context.shift;
  const size = settings.parallel ? sizeOf(context) : 1;
  const next = chooseNext({
    board: snapshot,
    scope: context.select(snapshot),
    mode: 'batch',
    sequence: settings.sequence,
    room: size,
    deferred: rowsOf(snapshot, context.returns.deferred),
  });
  if (!next) return undefined;
  const task = tasks.find(({ name }) => name === next.task)!;
  return { task, rows: affordableRows(context, next), size, isWaiting: next.role === 'qa' };
}

/** Rule X6: as many as the limits on money allow. A qa always runs: most of its item's cost is spent. */
export function affordableRows({ budget }: RunContext, { task, rows, role }: Next): readonly number[] {
  return role === 'qa' ? rows : rows.slice(0, budget.affordable(task, rows.length));
}

/** `current-batch-size`: the run's own, or yours, which is used as it is (rule P4). A run of a part has its own. */
function sizeOf({ shift, ownSize }: RunContext): number {
  const { batchSize, maxBatchSize } = shift.settings;
  const isOwn = ownSize !== undefined && ownSize.inFile === batchSize;
  return startSize({ batchSize: isOwn ? ownSize.size : batchSize, maxBatchSize });
}

export function rowsOf(snapshot: Snapshot, items: readonly string[]): ReadonlySet<number> {
  return new Set(items.flatMap((id) => snapshot.rowOf(id) ?? []));
}

/** Rule P6, the end of a batch after its lessons: size, Progress, report. */
export async function settleTurn(
  context: RunContext,
  { task, size: from, isWaiting }: Pick<Turn, 'task' | 'size' | 'isWaiting'>,
  end: BatchEnd,
  isCounted = true,
): Promise<void> {
  const { store, documents, ports } = context;
  const { parallel, batchSize: was, maxBatchSize } = context.shift.settings;
  const adapts = parallel && !isWaiting && isCounted;
  const { to, reason } = adapts
    ? adaptSize(from, end, maxBatchSize)
    : { to: from, reason: parallel ? '' : 'sequential' };
  const counts = countProgress(await store.snapshot());
  const isWritten = adapts && isWholeShift(ports.scope.selection ?? {});
  if (adapts && !isWritten) context.ownSize = { size: to, inFile: was };
  const inForce = await documents.finishBatch(counts, isWritten ? { was, to } : undefined);
  const isTheirs = isWritten && inForce !== to;
  const { done, failed, returned, compacted } = end;
  context.emit({
    type: 'batch:finished',
    task: task.name,
    from,
    to: isTheirs ? startSize({ batchSize: inForce, maxBatchSize }) : to,
    reason: isTheirs ? 'set by a person' : reason,
    done,
    failed,
    returned,
  });
  context.report(counts, compacted);
}
