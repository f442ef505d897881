import type { FleetDatabase } from '../database.ts';
import type { Offers } from './offers.ts';
import type { Perform } from './order-run.ts';

export interface WorkerOptions {
  readonly database: FleetDatabase;
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly version: string;
  readonly offers: Offers;
  /** Whether an order comes from a coordinator that this worker trusts. */
  readonly verify: (envelope: { body: string; signature: string }) => boolean;
  readonly perform: Perform;
  readonly silenceMs?: number;
  /** Prints a line for the operator. */
  readonly tell: (message: string) => void;
}
