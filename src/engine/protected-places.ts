import { resolve } from 'node:path';
import { fillTemplate, resolveText } from '../core/language/template.ts';
import type { ProtectedPlace } from '../core/model/protection.ts';
import { type Shift, valuesOf } from '../core/model/shift.ts';
import type { Snapshot } from '../store/store.ts';

/**
 * Up to this many rows, working folders are checked before a run; with more, a folder is protected from its first
 * claim on.
 */
const MOST_ROWS = 10_000;
const MOST_PLACES = 200;

/** The working folders of a run, and the files that must not change there. */
export function protectedPlaces(
  shift: Shift,
  snapshot: Snapshot,
  includes: (row: number) => boolean,
): ProtectedPlace[] {
  const places = new Map<string, ProtectedPlace>();
  for (const task of shift.tasks) {
    const globs = task.settings.protect;
    // In a workspace, the change itself shows it.
    if (globs.length === 0 || task.hasWorkspace) continue;
    for (let row = 0; row < Math.min(snapshot.count, MOST_ROWS) && places.size < MOST_PLACES; row++) {
      if (!includes(row)) continue;
      const text = fillTemplate(task.workingDir, valuesOf(shift, snapshot.metadata(row)));
      const folder = resolve(shift.root, resolveText(text, shift.secrets));
      places.set(JSON.stringify([folder, ...globs]), { folder, globs });
    }
  }
  return [...places.values()];
}
