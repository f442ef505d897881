import type { Order, Outcome } from '../../core/model/model.ts';

/** Takes the results of rows in git workspaces from worker to worker, and to this machine. */
export interface CarriedRows {
  /** Before an order is sent: the order with where the workspace of its row begins, or why it can't be sent. */
  carry(order: Order, signal: AbortSignal): Promise<{ order: Order } | { outcome: Outcome }>;
  /** Fetches the result to this machine, durably. Returns another outcome if that fails. */
  accept(order: Order, outcome: Outcome, signal: AbortSignal): Promise<Outcome | undefined>;
  /** Removes the refs of the item from the relay. Call it once the end of the item is in the table. */
  removeRefs(order: Order): void;
  /** The run has come to its end. `isFinished`: nothing is left to do. */
  end(isFinished: boolean): Promise<void>;
}
