import type { Lease, LeaseTerms } from '../core/model/lease.ts';
import type { Status } from '../core/model/status.ts';
import type { Board } from '../core/schedule/plan.ts';

/**
 * Durable state of the items, by item id. It is asynchronous and does not know about folders, so a database or a
 * service can implement it. One contract suite runs against every implementation.
 */
export interface Store {
  /**
   * Declares the tasks and the columns that they fill: before the first claim, and when the manifest changes. A task
   * that is declared no more keeps its leases: its items can be recorded and released, and no others claimed.
   */
  prepare(tasks: readonly string[], outputs: ReadonlyMap<string, readonly string[]>): Promise<void>;
  /** The current state, including what others changed. */
  snapshot(): Promise<Snapshot>;
  /**
   * Leases items to an owner, all in one durable write: `todo` becomes `in_progress`, `qa` stays.
   * Omits items that have a lease that is not over, and items that others changed or removed.
   */
  claim(task: string, ids: readonly string[], terms: LeaseTerms): Promise<Claim[]>;
  /** Takes over an item that another process claimed, at `in_progress` or `qa`. Undefined if it has another status. */
  adopt(cell: ItemTask, terms: LeaseTerms): Promise<Claim | undefined>;
  /** Extends leases. Returns the tokens that are void by now, because the item was taken, withdrawn or recorded. */
  renew(tokens: readonly string[], expiresAt: number): Promise<string[]>;
  /** The leases that this store knows, including those that are over but not taken yet. */
  leases(): Promise<ItemLease[]>;
  /** Rule T5: items at `in_progress` without a lease, or whose lease is over, go back to `todo`. Returns how many. */
  giveBackStale(now: number): Promise<number>;
  /** Writes one transition together with its captured values. A void token changes nothing. */
  record(token: string, from: Status, to: Status, outputs?: Outputs, reason?: string): Promise<WriteResult>;
  /** Gives an item back: `in_progress` becomes `todo`, `qa` stays. Ends the lease. */
  release(token: string, reason: string): Promise<WriteResult>;
  /** Sets item-tasks to `todo`, whatever their status. Returns how many changed. */
  reset(cells: readonly ItemTask[]): Promise<number>;
  /** What others did since the last call that this run must react to. */
  changes(): Promise<Change[]>;
  /**
   * If the items can't be read, replaces them by those that this run knows and keeps the unreadable ones beside, so
   * that results can be recorded. Undefined if they can be read.
   */
  restore(): Promise<Restoration | undefined>;
}

export interface ItemTask {
  readonly id: string;
  readonly task: string;
}

export interface ItemLease extends ItemTask, Lease {}

/** A new lease, with the item's row and its status after the claim. */
export interface Claim extends ItemLease {
  readonly row: number;
  readonly status: Status;
}

export type Outputs = Readonly<Record<string, string>>;

/** `kept`: where the unreadable items are now; absent if there were none. */
export interface Restoration {
  readonly kept?: string;
}

export type WriteResult = { readonly ok: true } | { readonly ok: false; readonly why: string };

export type Change =
  /** The run lost an item: its token is void, and its agent must be stopped. */
  | ({ readonly kind: 'withdrawn'; readonly token: string; readonly reason: string } & ItemTask)
  /** Another program wrote what only the run may write. The store undid it. */
  | { readonly kind: 'reverted'; readonly what: string };

/** The items at one moment. Later changes do not show. */
export interface Snapshot extends Board {
  readonly header: readonly string[];
  id(row: number): string;
  /** A snapshot knows the ids that it was asked for. Undefined for others, and if the item is gone. */
  rowOf(id: string): number | undefined;
  /** All cells except statuses, by column name. */
  metadata(row: number): Record<string, string>;
  /** One cell of a column in `header`. */
  cell(row: number, column: string): string;
}
