import type { Task } from '../../core/model/shift.ts';
import type { FolderNeed } from '../../fleet/needs.ts';

type TaskPlacement = Pick<Task, 'hasWorkspace' | 'settings'>;

/** Whether its items work in the project itself, on a volume that all machines have. */
export function isShared({ hasWorkspace, settings }: TaskPlacement): boolean {
  return !hasWorkspace && !settings.isFolderless;
}

export function placeOf(task: TaskPlacement, volume: string | undefined): FolderNeed {
  if (task.hasWorkspace) return 'git';
  // Without a mark, no worker fits: a task that shares the folder was added during the run.
  return task.settings.isFolderless ? 'none' : { volume: volume ?? 'unknown' };
}
