import type { Snapshot } from '../store/store.ts';

/** Usually the row is where it was. After a restart ids are new, and rows may have moved. */
export function findRow(snapshot: Snapshot, item: string, guess: number): number | undefined {
  const known = snapshot.rowOf(item);
  if (known !== undefined) return known;
  if (guess < snapshot.count && snapshot.id(guess) === item) return guess;
  for (let row = 0; row < snapshot.count; row++) if (snapshot.id(row) === item) return row;
  return undefined;
}
