import type { Bundle } from '../bundle.ts';
import type { Envelope, SentOrder } from '../protocol.ts';

export interface NamedOrder {
  readonly queue: string;
  readonly id: string;
}

/** An order that the database has. */
export interface StoredOrder extends NamedOrder {
  /** No worker has taken it yet. */
  readonly isWaiting: boolean;
}

export interface FoundOrder {
  readonly sent: SentOrder;
  readonly queue: string;
}

/** An order on its way into the database. */
export interface Sending extends NamedOrder {
  readonly needs: readonly string[];
  readonly envelope: Envelope;
  readonly priority: number;
  /** The files that it names. */
  readonly bundle: Bundle | undefined;
}
