import type { Snapshot } from '../store/store.ts';

/** Mostly it is where it was; after a restart ids are handed out anew, and rows may have moved meanwhile. */
export function findRow(snapshot: Snapshot, item: string, guess: number): number | undefined {
  const known = snapshot.rowOf(item);
  if (known !== undefined) return known;
  if (guess < snapshot.count && snapshot.id(guess) === item) return guess;
  for (let row = 0; row < snapshot.count; row++) if (snapshot.id(row) === item) return row;
  return undefined;
}
