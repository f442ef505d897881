import type { Status } from '../core/model/status.ts';
import type { Board } from '../core/schedule/plan.ts';

/**
 * Durable state of the items, by item id. It is asynchronous and knows nothing of folders, so that another engine
 * (a database, many machines) can stand behind it. One contract suite runs against every implementation.
 */
export interface Store {
  /** The tasks and the columns that they fill, before the first claim and whenever the manifest changed them. */
  prepare(tasks: readonly string[], outputs: ReadonlyMap<string, readonly string[]>): Promise<void>;
  /** What is recorded now, including what others changed. */
  snapshot(): Promise<Snapshot>;
  /**
   * Takes items for this run, all in one durable write: `todo` becomes `in_progress`, `qa` stays and gets a token.
   * Items that others took, changed or removed meanwhile are left out of the answer.
   */
  claim(task: string, ids: readonly string[]): Promise<Claim[]>;
  /** Takes over what another process claimed, as it is: `in_progress` or `qa`. Undefined if it is neither. */
  adopt(cell: ItemTask): Promise<Claim | undefined>;
  /** Writes one transition and its captured values together. A token that is not the current one changes nothing. */
  record(token: string, from: Status, to: Status, outputs?: Outputs, reason?: string): Promise<Recorded>;
  /** Gives an item back: `in_progress` becomes `todo`, `qa` stays; the token is void from now on. */
  release(token: string, reason: string): Promise<Recorded>;
  /** Takes named item-tasks to `todo`, whatever they are; answers how many changed. */
  reset(cells: readonly ItemTask[]): Promise<number>;
  /** What others did since the last call that this run must react to. */
  changes(): Promise<Change[]>;
  /**
   * For results that could not be recorded otherwise: replaces items that can't be read by those that this run knows,
   * and keeps the others beside. Undefined if they can be read.
   */
  restore(): Promise<Restored | undefined>;
}

export interface ItemTask {
  readonly id: string;
  readonly task: string;
}

export interface Claim extends ItemTask {
  readonly token: string;
  readonly row: number;
  readonly status: Status;
}

export type Outputs = Readonly<Record<string, string>>;

/** `kept`: where what could not be read is now; absent if there was nothing. */
export interface Restored {
  readonly kept?: string;
}

export type Recorded = { readonly ok: true } | { readonly ok: false; readonly why: string };

export type Change =
  /** A person took an item away from the run: its token is void, its agent must be stopped. */
  | ({ readonly kind: 'withdrawn'; readonly token: string; readonly reason: string } & ItemTask)
  /** Somebody wrote what only the run may write; it was put back. */
  | { readonly kind: 'reverted'; readonly what: string };

/** The items as they were at one moment; later changes do not show. */
export interface Snapshot extends Board {
  readonly header: readonly string[];
  id(row: number): string;
  /** Undefined: there is no such item any more. */
  rowOf(id: string): number | undefined;
  /** Every cell that is not a status, by column name. */
  metadata(row: number): Record<string, string>;
}
