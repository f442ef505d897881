import type { Task } from '../../core/model/shift.ts';
import type { Status } from '../../core/model/status.ts';
import { leaseTerms } from '../../engine/lease-terms.ts';
import type { ByHand } from './by-hand.ts';
import type { BatchItemEnd } from './ends.ts';

/** How many agents in a row may end without a status; the last of them fails the item. */
const SILENT_AT_MOST = 3;

/** An item whose agent ended without a status. */
export interface SilentItem {
  readonly index: number;
  readonly end: 'given back' | 'failed';
  readonly reason: string;
}

/**
 * Gives back items whose agents ended without a status, at most twice: an item that no agent ever answers for must not
 * go round for ever. The count is in the journal, and a reset clears it.
 */
export async function returnSilent(
  hand: ByHand,
  task: Task,
  ends: readonly BatchItemEnd[],
): Promise<{ after: BatchItemEnd[]; silent: SilentItem[] }> {
  const { ports } = hand;
  const after: BatchItemEnd[] = [];
  const silent: SilentItem[] = [];
  for (const each of ends) {
    const role = silentRole(each);
    if (role === undefined || each.id === undefined) {
      after.push(each);
      continue;
    }
    const times = (ports.events.history.of(task.name, each.id)?.silent ?? 0) + 1;
    const subject = { task: task.name, index: each.item.index, item: each.id };
    if (times < SILENT_AT_MOST) {
      const reason = `its ${role} ended without a status (${times} of ${SILENT_AT_MOST})`;
      ports.events.emit({ type: 'item:returned', ...subject, reason, isSilent: true });
      silent.push({ index: each.item.index, end: 'given back', reason });
      after.push(each);
      continue;
    }
    const reason = `its ${role} ended without a status ${SILENT_AT_MOST} times`;
    const isFailed = await fail(hand, task, each, reason);
    if (isFailed) silent.push({ index: each.item.index, end: 'failed', reason });
    after.push(isFailed ? { ...each, end: 'failed', status: 'failed' } : each);
  }
  await ports.events.flush();
  return { after, silent };
}

/** Undefined: no agent had to answer for it. */
function silentRole({ item, end, status, isForged }: BatchItemEnd): 'dev' | 'qa' | undefined {
  if (end !== 'open' || isForged) return undefined;
  if (status === 'in_progress') return 'dev';
  return item.isQaNamed ? 'qa' : undefined;
}

async function fail(
  { ports }: ByHand,
  task: Task,
  { item, id = '', status }: BatchItemEnd,
  reason: string,
): Promise<boolean> {
  const claim = await ports.store.adopt({ id, task: task.name }, leaseTerms(ports));
  if (!claim) return false;
  const subject = { task: task.name, index: item.index, item: id, ms: 0, key: item.key, reason };
  if (status === 'qa') ports.events.emit({ type: 'qa:finished', ...subject, status: 'FAIL', verdicts: [] });
  else {
    const attempts = Math.max(1, ports.events.history.of(task.name, id)?.attempts ?? 0);
    const nothing = { captured: {}, recommendations: [], compacted: false };
    ports.events.emit({ type: 'dev:finished', ...subject, status: 'FAILED', attempts, ...nothing });
  }
  await ports.events.flush();
  return (await ports.store.record(claim.token, status as Status, 'failed', {}, reason)).ok;
}
