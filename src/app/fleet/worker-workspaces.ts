import { join } from 'node:path';
import { CarriedWorkspaces } from '../../workspace/carried-workspaces.ts';
import type { Git } from '../../workspace/git.ts';
import { mirrorsFolder, repositoryLock } from '../run/run-workspaces.ts';
import { workspaceGit } from '../run/workspace-git.ts';
import type { World } from '../world.ts';
import type { WorkerFolder } from './worker-folder.ts';

/** Git workspaces on the machine of a worker. */
export interface WorkerWorkspaces {
  readonly workspaces: CarriedWorkspaces;
  /** Why this machine can't have any. */
  readonly missing: string | undefined;
}

export async function openWorkerWorkspaces(
  folder: WorkerFolder,
  world: World,
  warn: (message: string) => void,
): Promise<WorkerWorkspaces> {
  const copies = join(folder.path, 'git');
  const git = workspaceGit({ root: folder.path, copies, world, shiftFolder: folder.shift('git') });
  const workspaces = new CarriedWorkspaces({
    ...{ git, folder: folder.path, mirrors: mirrorsFolder(world), lock: repositoryLock(world), now: world.now, warn },
  });
  return { workspaces, missing: await whyWithout(git) };
}

async function whyWithout(git: Git): Promise<string | undefined> {
  const asked = await git.run({ folder: '/', args: ['--version'], signal: AbortSignal.timeout(60_000) });
  return asked.kind === 'done' ? undefined : "git can't be started: install it on this machine";
}
