import type { SentOrder } from '../protocol.ts';
import { storable } from '../storable.ts';
import { type OrderResult, WHY_REFUSED } from './order-run.ts';

/** For `fleet status`. */
export function described({ id, shift, work }: SentOrder): object {
  const { role, task } = work.order;
  const item = work.kind === 'item' ? { row: work.order.item.index + 1, label: work.order.item.label } : {};
  return storable({ id, shift: shift.name, task, role, ...item });
}

/** For people who watch the worker. */
export function nameOf({ shift, work }: SentOrder): string {
  const { role, task } = work.order;
  const row = work.kind === 'item' ? ` row ${work.order.item.index + 1}` : '';
  return `${shift.name}${row} ${task} (${role})`;
}

export function endOf({ handover, outcome }: OrderResult): string {
  if (handover === 'cancelled') return 'ended: its item was withdrawn, or its run was stopped';
  if (handover === 'refused') return `result refused: ${WHY_REFUSED}`;
  if (handover === 'unknown') return 'result sent, but the answer was lost: the journal shows whether it was accepted';
  if (outcome.role === 'manager') return 'reason' in outcome ? outcome.reason : 'answered';
  if (outcome.to === undefined) return `given back: ${outcome.reason ?? 'no reason'}`;
  const attempts = outcome.role === 'dev' && outcome.attempts > 1 ? ` after ${outcome.attempts} attempts` : '';
  if (outcome.to === 'failed') return `failed${attempts}: ${outcome.reason ?? 'no reason'}`;
  return outcome.to === 'qa' ? `finished${attempts}` : 'passed';
}

export function nameTaken(name: string): string {
  return (
    `another worker called ${name} was connected a moment ago. If it is still running, use another --name: ` +
    `\`fleet drain ${name}\` drains both, and no view can tell them apart`
  );
}
