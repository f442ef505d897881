/**
 * The right to write the status of a claimed item-task. After it expires, another owner may take the item-task; until
 * one does, the token still writes. Times are milliseconds since 1970, by the clock of its owner.
 */
export interface Lease {
  readonly token: string;
  /** Who claimed it: the id of a run, or the program that opened a batch by hand. */
  readonly owner: string;
  readonly expiresAt: number;
}

/** What a claim asks for. */
export interface LeaseTerms {
  readonly owner: string;
  readonly now: number;
  readonly expiresAt: number;
}

export function isOver({ expiresAt }: Pick<Lease, 'expiresAt'>, now: number): boolean {
  return now >= expiresAt;
}
