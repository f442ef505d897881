import type { NightshiftEvent } from '../model/events.ts';

/** How often an item-task was given back. */
export interface ItemReturns {
  /** By a qa to its latest dev. */
  qaRetries?: number;
  /** In batches by hand: by agents in a row that ended without a status. */
  silent?: number;
}

export function countReturn(
  item: ItemReturns | undefined,
  event: Extract<NightshiftEvent, { type: 'item:recorded' | 'item:returned' }>,
): void {
  if (!item) return;
  if (event.type === 'item:returned') {
    if (event.isSilent) item.silent = (item.silent ?? 0) + 1;
    return;
  }
  delete item.silent;
  if (event.from === 'qa' && event.to === 'in_progress') item.qaRetries = (item.qaRetries ?? 0) + 1;
}
