import { resolve } from 'node:path';
import { fillTemplate, resolveText } from '../core/language/template.ts';
import type { ProtectedPlace } from '../core/model/protection.ts';
import { type Shift, valuesOf } from '../core/model/shift.ts';
import type { Snapshot } from '../store/store.ts';

/** Rows whose working folder is looked at before a run; with more, a folder is held from its first claim on. */
const MOST_ROWS = 10_000;
const MOST_PLACES = 200;

/** Where the items of a run are worked on, and what must not be changed there. */
export function protectedPlaces(
  shift: Shift,
  snapshot: Snapshot,
  includes: (row: number) => boolean,
): ProtectedPlace[] {
  const places = new Map<string, ProtectedPlace>();
  for (const task of shift.tasks) {
    const globs = task.settings.protect;
    if (globs.length === 0) continue;
    for (let row = 0; row < Math.min(snapshot.count, MOST_ROWS) && places.size < MOST_PLACES; row++) {
      if (!includes(row)) continue;
      const text = fillTemplate(task.workingDir, valuesOf(shift, snapshot.metadata(row)));
      const folder = resolve(shift.root, resolveText(text, shift.secrets));
      places.set(JSON.stringify([folder, ...globs]), { folder, globs });
    }
  }
  return [...places.values()];
}
