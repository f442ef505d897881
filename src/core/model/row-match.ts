import { Rivals } from './rivals.ts';

/** One reading of a table, as far as it matters for identifying rows. */
export interface RowView {
  readonly count: number;
  /** The same text for the same metadata, without outputs and statuses. */
  metadata(row: number): string;
  /** The same text for the same statuses. */
  statuses(row: number): string;
  /** It has a status that only the run may write. */
  isEarned(row: number): boolean;
}

/** What else is known about a table that another program wrote. */
export interface Outside {
  /** The metadata of rows that were removed before. */
  readonly removed?: readonly string[];
  /** It has new columns: without them, different rows may look the same. */
  readonly hasNewColumns?: boolean;
}

/** Leftover rows are compared pair by pair only up to this many pairs, so that a replaced table takes linear time. */
const MOST_COMPARISONS = 1 << 16;
/** In a larger table, disguised rows are not searched for: their texts would take as much memory as the table. */
const MOST_RIVALS = 1 << 18;

/**
 * Rule T7: for each row of `before` its row in `after`, or -1 if it is gone. No two get the same one. The evidence,
 * best first: the same source at either end of the table, the same metadata, the same place between two known rows,
 * most of the same text, the same place next to one known row. An edited row keeps its statuses or stays similar; one
 * that does neither is another item in the same place, and must not get its `done`. Nor does a `done` move to a text
 * that is more similar to another row, or to a removed one.
 */
export function matchRows(
  before: RowView,
  after: RowView,
  sameSource: (before: number, after: number) => boolean,
  outside: Outside = {},
): Int32Array {
  const match = new Match(before, after, outside);
  const window = trimEnds(match, sameSource);
  matchByMetadata(match, window);
  matchBetweenKnownRows(match);
  matchByLikeness(match);
  matchBesideKnownRows(match);
  return match.rows;
}

/** The rows found so far. */
class Match {
  readonly before: RowView;
  readonly after: RowView;
  readonly rows: Int32Array;
  readonly #taken: Uint8Array;
  readonly #outside: Outside;
  #rivals: Rivals | undefined;

  constructor(before: RowView, after: RowView, outside: Outside) {
    this.before = before;
    this.after = after;
    this.#outside = outside;
    this.rows = new Int32Array(before.count).fill(-1);
    this.#taken = new Uint8Array(after.count);
  }

  pair(old: number, now: number): void {
    this.rows[old] = now;
    this.#taken[now] = 1;
  }

  /** Without the same metadata it is a guess: an earned status does not move along if another row is closer. */
  guess(old: number, now: number): void {
    if (!this.after.isEarned(now) || !this.#hasRival(old, now)) this.pair(old, now);
  }

  /** Rows that are equal in the columns of both tables, although their statuses differ. */
  areAmbiguous(olds: readonly number[]): boolean {
    const [first] = olds;
    if (!this.#outside.hasNewColumns || first === undefined) return false;
    return olds.some((old) => this.before.statuses(old) !== this.before.statuses(first));
  }

  #hasRival(old: number, now: number): boolean {
    const { removed = [] } = this.#outside;
    if (this.before.count + removed.length > MOST_RIVALS) return false;
    this.#rivals ??= new Rivals([
      ...Array.from({ length: this.before.count }, (_, row) => this.before.metadata(row)),
      ...removed,
    ]);
    // A row with the same statuses has nothing to gain.
    const statuses = this.after.statuses(now);
    const isRival = (other: number) => other >= this.before.count || this.before.statuses(other) !== statuses;
    return this.#rivals.hasRival(this.after.metadata(now), old, isRival, this.#outside.hasNewColumns === true);
  }

  /** Both exist and neither has been matched. */
  isOpen(old: number, now: number): boolean {
    return this.rows[old] === -1 && this.#taken[now] === 0;
  }

  /** The current index of a known row; the edges of the table count as known. Undefined for an unmatched row. */
  known(old: number): number | undefined {
    if (old === -1) return -1;
    if (old === this.before.count) return this.after.count;
    const now = this.rows[old];
    return now === -1 ? undefined : now;
  }

  hasSameStatuses(old: number, now: number): boolean {
    return this.before.statuses(old) === this.after.statuses(now);
  }

  openRows(): { olds: number[]; nows: number[] } {
    const olds: number[] = [];
    const nows: number[] = [];
    for (let old = 0; old < this.before.count; old++) if (this.rows[old] === -1) olds.push(old);
    for (let now = 0; now < this.after.count; now++) if (this.#taken[now] === 0) nows.push(now);
    return { olds, nows };
  }
}

interface Window {
  readonly start: number;
  readonly oldEnd: number;
  readonly nowEnd: number;
}

/** Most edits touch few rows. Safe among equal rows, because they could not be told apart anyway. */
function trimEnds(match: Match, sameSource: (before: number, after: number) => boolean): Window {
  let start = 0;
  let oldEnd = match.before.count;
  let nowEnd = match.after.count;
  while (start < oldEnd && start < nowEnd && sameSource(start, start)) {
    match.pair(start, start);
    start++;
  }
  while (start < oldEnd && start < nowEnd && sameSource(oldEnd - 1, nowEnd - 1)) match.pair(--oldEnd, --nowEnd);
  return { start, oldEnd, nowEnd };
}

/** Sorted, inserted and removed rows. */
function matchByMetadata(match: Match, { start, oldEnd, nowEnd }: Window): void {
  const twins = new Map<string, { olds: number[]; nows: number[] }>();
  for (let old = start; old < oldEnd; old++) {
    const metadata = match.before.metadata(old);
    const group = twins.get(metadata);
    if (group) group.olds.push(old);
    else twins.set(metadata, { olds: [old], nows: [] });
  }
  for (let now = start; now < nowEnd; now++) twins.get(match.after.metadata(now))?.nows.push(now);
  for (const { olds, nows } of twins.values()) matchTwins(match, olds, nows);
}

/**
 * Rows with equal metadata: first those with the same statuses at the same ordinal, then those with the same
 * statuses, then the rest in order.
 */
function matchTwins(match: Match, olds: readonly number[], nows: readonly number[]): void {
  if (match.areAmbiguous(olds)) {
    for (const [ordinal, old] of olds.entries()) if (ordinal < nows.length) match.guess(old, nows[ordinal]!);
    return;
  }
  for (let ordinal = 0; ordinal < Math.min(olds.length, nows.length); ordinal++) {
    const old = olds[ordinal]!;
    const now = nows[ordinal]!;
    if (match.hasSameStatuses(old, now)) match.pair(old, now);
  }
  matchInOrder(match, olds, nows, (view, row) => view.statuses(row));
  matchInOrder(match, olds, nows, () => '');
}

function matchInOrder(
  match: Match,
  olds: readonly number[],
  nows: readonly number[],
  keyOf: (view: RowView, row: number) => string,
): void {
  const queues = new Map<string, number[]>();
  for (const old of olds.toReversed()) {
    if (match.rows[old] !== -1) continue;
    const key = keyOf(match.before, old);
    const queue = queues.get(key);
    if (queue) queue.push(old);
    else queues.set(key, [old]);
  }
  if (queues.size === 0) return;
  for (const now of nows) {
    const queue = queues.get(keyOf(match.after, now));
    const old = queue?.at(-1);
    if (old === undefined || !match.isOpen(old, now)) continue;
    match.pair(old, now);
    queue?.pop();
  }
}

/** Rows edited in place: the number of unknown rows between two known ones has not changed. */
function matchBetweenKnownRows(match: Match): void {
  const { rows, before } = match;
  for (let old = 0; old < rows.length; old++) {
    if (rows[old] !== -1) continue;
    const first = old;
    while (old < rows.length && rows[old] === -1) old++;
    const left = match.known(first - 1)!;
    if (match.known(old)! - left !== old - first + 1) continue;
    for (let edited = first; edited < old; edited++) {
      const now = left + 1 + edited - first;
      if (!match.isOpen(edited, now)) continue;
      const same = match.hasSameStatuses(edited, now) || likeness(match, edited, now) > ownLikeness(before, edited);
      if (same) match.guess(edited, now);
    }
  }
}

/** Rows that were edited and moved, or edited next to an inserted one. */
function matchByLikeness(match: Match): void {
  const { olds, nows } = match.openRows();
  if (olds.length * nows.length > MOST_COMPARISONS) return;
  const pairs = olds.flatMap((old) => {
    const least = ownLikeness(match.before, old);
    return nows
      .filter((now) => match.hasSameStatuses(old, now))
      .map((now) => ({ old, now, likeness: likeness(match, old, now) }))
      .filter((pair) => pair.likeness > least);
  });
  pairs.sort((a, b) => b.likeness - a.likeness);
  for (const { old, now } of pairs) if (match.isOpen(old, now)) match.guess(old, now);
}

/** The last guess: rows that follow or precede a known row as before. Equal statuses make it harmless. */
function matchBesideKnownRows(match: Match): void {
  const { olds } = match.openRows();
  const follow = (old: number, step: 1 | -1) => {
    const neighbour = match.known(old - step);
    if (neighbour === undefined) return;
    const now = neighbour + step;
    if (match.isOpen(old, now) && match.hasSameStatuses(old, now)) match.guess(old, now);
  };
  for (const old of olds) follow(old, 1);
  for (const old of olds.toReversed()) follow(old, -1);
}

function likeness(match: Match, old: number, now: number): number {
  return sharedText(match.before.metadata(old), match.after.metadata(now));
}

/** How similar a row is to its neighbours: rows of a table resemble each other, so a fixed threshold would not do. */
function ownLikeness(view: RowView, row: number): number {
  const metadata = view.metadata(row);
  const above = row > 0 ? sharedText(metadata, view.metadata(row - 1)) : 0;
  const below = row + 1 < view.count ? sharedText(metadata, view.metadata(row + 1)) : 0;
  return Math.max(above, below);
}

/** From 0 to 1: how much of the longer text is a common beginning or end, as an edit of one cell leaves it. */
function sharedText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a.charCodeAt(head) === b.charCodeAt(head)) head++;
  let tail = 0;
  while (head + tail < shorter && a.charCodeAt(a.length - 1 - tail) === b.charCodeAt(b.length - 1 - tail)) tail++;
  return (head + tail) / Math.max(a.length, b.length, 1);
}
