import { join } from 'node:path';
import type { ShiftPaths } from './layout.ts';

/** Secrets, and what Nightshift leaves beside a file for a moment or as a backup; at any depth. */
const OWN_NAMES = /^\.env|\.nightshift-tmp$|\.put-back-|^\.before-doctor-|^\.doctor-new-/;

/**
 * Whether a path in a shift's folder is one of Nightshift's own, or inside of one: the table, the manifest, task files,
 * secrets, what the engine keeps. Everything else there is the author's.
 */
export function isOwnFile(paths: ShiftPaths, tasks: readonly string[], path: string): boolean {
  if (path.split('/').some((name) => OWN_NAMES.test(name))) return true;
  const { folder, manager, table, lock, lessons, engine, report } = paths;
  const own = [manager, table, `${table}.bak`, lock, lessons, engine, report, ...tasks.map((name) => paths.task(name))];
  return own.some((file) => `${join(folder, path)}/`.startsWith(`${file}/`));
}
