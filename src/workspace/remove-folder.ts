import { chmodSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Removes a folder, also one that an agent or a tool has made read-only or too deep for a path. Follows no links. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    open(folder, { top: folder, moved: 0 });
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Longer paths are near the limit of the system. */
const LONG = 2000;

/** Makes folders writable, and moves deep ones to the top. */
function open(folder: string, state: { readonly top: string; moved: number }): void {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  chmodSync(folder, 0o700);
  if (folder.length > state.top.length + LONG) {
    const raised = join(state.top, `.deep-${process.pid}-${state.moved++}`);
    renameSync(folder, raised);
    open(raised, state);
  } else for (const name of readdirSync(folder)) open(join(folder, name), state);
}
