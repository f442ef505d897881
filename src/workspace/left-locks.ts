import { lstatSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceRecord } from './records.ts';

/** Removes the locks that a killed git left in a repository. No other process may use it. Follows no links. */
export function removeLocks(gitDir: string): void {
  if (!isFolder(gitDir)) return;
  const refs = join(gitDir, 'refs');
  // With their types: without them, Node follows links to folders.
  const inRefs = isFolder(refs) ? readdirSync(refs, { recursive: true, withFileTypes: true }) : [];
  for (const entry of [...readdirSync(gitDir, { withFileTypes: true }), ...inRefs]) {
    if (entry.name.endsWith('.lock')) rmSync(join(entry.parentPath, entry.name), { force: true });
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Git holds the lock of a branch for some milliseconds. */
const HELD_MS = 3000;
const POLL_MS = 100;

/** Removes locks of a repository that others use, too: those that nothing has changed for a while. Returns them. */
async function removeStaleLocks(files: readonly string[]): Promise<string[]> {
  const found = files.flatMap((file) => {
    const state = stateOf(file);
    return state === undefined ? [] : [{ file, state }];
  });
  const left = () => found.filter(({ file, state }) => stateOf(file) === state);
  for (let waited = 0; waited < HELD_MS && left().length > 0; waited += POLL_MS) await sleep(POLL_MS);
  const stale = left().map(({ file }) => file);
  for (const file of stale) rmSync(file, { force: true });
  return stale;
}

function stateOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs}`;
}

/** The lock that git takes to move a branch. */
export function branchLock(commonDir: string, branch: string): string {
  return join(commonDir, 'refs', 'heads', `${branch}.lock`);
}

interface LockPlaces {
  readonly shift: string;
  /** The desk of an item. */
  desk(id: string): string;
  /** What all working trees of a record's repository share; undefined: it is gone. */
  commonDir(record: WorkspaceRecord): Promise<string | undefined>;
  warn(message: string): void;
}

/** At the start of a run: removes the locks that a killed git left in desks and in the repositories of a person. */
export async function removeLeftLocks(records: readonly WorkspaceRecord[], places: LockPlaces): Promise<void> {
  const { shift, desk, commonDir, warn } = places;
  const locks = new Set<string>();
  for (const record of records) {
    removeLocks(desk(record.id));
    const repository = record.kind === 'worktree' ? await commonDir(record) : undefined;
    if (repository === undefined) continue;
    const into = record.delivery?.text.into ?? `nightshift/${shift}/merged`;
    for (const branch of [record.branch, into]) locks.add(branchLock(repository, branch));
    // Git takes it to delete a branch.
    if (record.state === 'removing') locks.add(join(repository, 'packed-refs.lock'));
  }
  const stale = await removeStaleLocks([...locks]);
  if (stale.length > 0) warn(`removed locks that a killed git had left: ${stale.join(', ')}`);
}
