import { statusAt } from '../../core/schedule/plan.ts';
import type { OpenBatch, OpenItem } from '../../store/folder/batch-file.ts';
import { readSince } from '../../store/folder/journal/journal-reader.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { Snapshot } from '../../store/store.ts';
import { type ByHand, locate } from './by-hand.ts';

/** How an item of an open batch ended. `id` is that of its row now; absent: the row is gone. */
export interface BatchItemEnd {
  readonly item: OpenItem;
  readonly end: 'done' | 'failed' | 'withdrawn' | 'open';
  readonly status: string;
  readonly isForged: boolean;
  readonly id?: string;
}

export async function endsOf({ ports }: ByHand, paths: ShiftPaths, batch: OpenBatch): Promise<BatchItemEnd[]> {
  const recorded = await recordedSince(paths, batch.task, batch.journalFrom);
  const snapshot = await ports.store.snapshot();
  return batch.items.map((item) => endOf(snapshot, batch, item, recorded));
}

/** Only a status that was written with a token counts. Any other `qa` or `done` goes back when the batch is closed. */
function endOf(snapshot: Snapshot, batch: OpenBatch, item: OpenItem, recorded: ReadonlySet<string>): BatchItemEnd {
  const row = locate(snapshot, batch, item);
  if (row === undefined) return { item, end: 'withdrawn', status: 'gone', isForged: false };
  const status = statusAt(snapshot, row, snapshot.tasks.indexOf(batch.task));
  const id = snapshot.id(row);
  const isWritten = recorded.has(`${id} ${status}`) || recorded.has(`${item.id} ${status}`);
  const found = { item, status, id, isForged: false };
  if ((status === 'done' || status === 'failed') && isWritten) return { ...found, end: status };
  // You may withdraw an item, but not pass it.
  if (status === 'todo' || status === 'failed') return { ...found, end: 'withdrawn' };
  const isForged = status === 'done' || (status === 'qa' && item.dev !== undefined && !isWritten);
  return { ...found, end: 'open', isForged };
}

async function recordedSince(
  { journal }: ShiftPaths,
  task: string,
  from: OpenBatch['journalFrom'],
): Promise<Set<string>> {
  const recorded = new Set<string>();
  for await (const event of readSince(journal, from, ['"item:recorded"'])) {
    if (event.type === 'item:recorded' && event.task === task) recorded.add(`${event.item} ${event.to}`);
  }
  return recorded;
}

export async function putBackForged({ ports }: ByHand, task: string, ends: readonly BatchItemEnd[]): Promise<void> {
  const forged = ends.filter(({ isForged }) => isForged);
  if (forged.length === 0) return;
  await ports.store.reset(forged.map(({ id = '' }) => ({ id, task })));
  const what = forged
    .map(({ item, status }) => `row ${item.index + 1}: ${task} from in_progress to ${status}`)
    .join('; ');
  ports.events.emit({ type: 'edit:reverted', task, file: 'table.csv', what });
}
