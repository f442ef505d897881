import { copyFileSync, statSync, utimesSync } from 'node:fs';

/**
 * Copies an index of git with its time: git reads a file again that is as young as the index, because it may have
 * changed within the same second. In a younger copy it would pass for unchanged.
 */
export function copyIndex(from: string, to: string): void {
  copyFileSync(from, to);
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}
