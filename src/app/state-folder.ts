import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './world.ts';

/** Where a person's programs keep what outlives a run, outside of every project. */
export function stateFolder({ env }: Pick<World, 'env'>): string {
  return join(env.XDG_STATE_HOME || join(env.HOME ?? '/', '.local', 'state'), 'nightshift');
}

/** The lock file of a repository, for all shifts of the person. `purpose`: different ones don't wait for each other. */
export function repositoryLockFile(world: World, purpose: 'worktree' | 'merge', repository: string): string {
  const folder = join(stateFolder(world), 'locks');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${purpose}-${createHash('sha256').update(repository).digest('hex').slice(0, 16)}.lock`);
}
