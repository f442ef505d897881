import type { Order } from '../../core/model/model.ts';
import { askedCriteria } from '../../core/model/order.ts';
import type { Pending } from './sent-orders.ts';

/** The dev's checks are the verdict: no agent is asked. */
export function isVerdictKnown({ role, checksPassed, template, settings }: Order): boolean {
  const isAsked = askedCriteria({ criteria: template.criteria, settings }).length > 0;
  return role === 'qa' && checksPassed === true && !isAsked;
}

/** An order as it is now, with where its result goes. */
export function adopted(order: Order, { sent: { work } }: Pending): { order: Order } {
  return work.kind === 'item' && work.order.carried ? { order: { ...order, carried: work.order.carried } } : { order };
}

/** The dev's checks are the verdict: its workspace, which is on a worker, is not entered again. */
export function withoutPlace({ workspace: _, ...order }: Order): Order {
  return order;
}
