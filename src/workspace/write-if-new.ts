import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file of a repository of ours, for this person only. Git may be reading it at this moment, for another row or
 * another command, so a file that is as it should be is left alone. An agent may have put a link in its place.
 */
export function writeIfNew(file: string, text: string): void {
  const isFile = lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  if (isFile && readFileSync(file, 'utf8') === text) return;
  if (!isFile) rmSync(file, { recursive: true, force: true });
  writeFileSync(file, text, { mode: 0o600 });
}
