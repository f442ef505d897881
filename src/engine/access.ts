import { resolve } from 'node:path';
import type { Shift, Task } from '../core/model/shift.ts';
import { type AgentAccess, groupAccess } from '../core/workspace/access.ts';
import { type ResultsPlace, resultsPlaceOf } from '../core/workspace/results.ts';

/** What the agents of a run can write, reach and see. */
export function accessIn(shift: Shift, isOnWorkers: boolean): AgentAccess[] {
  const where = isOnWorkers ? { isOnWorkers } : {};
  return groupAccess(shift.tasks.map((task) => ({ ...accessOf(shift, task), ...where })));
}

function accessOf(shift: Shift, task: Task): AgentAccess {
  const { workspace } = shift;
  const { sandbox } = task.settings;
  if (workspace !== undefined && task.hasWorkspace) {
    return { tasks: [task.name], sandbox, workspace: workspace.kind };
  }
  if (task.settings.isFolderless) return { tasks: [task.name], sandbox, workspace: 'none' };
  const folder = folderOf(shift, task);
  return { tasks: [task.name], sandbox, ...(folder !== undefined && { folder }) };
}

/** Undefined: rows work in different folders. */
function folderOf({ root }: Shift, { workingDir }: Task): string | undefined {
  const [only, ...more] = workingDir.segments;
  return more.length === 0 && typeof only === 'string' ? resolve(root, only) : undefined;
}

/** Undefined: the shift has no workspaces, and what agents write stays where it is. */
export function resultsIn(shift: Shift): ResultsPlace | undefined {
  const task = shift.tasks.find(({ hasWorkspace }) => hasWorkspace);
  if (shift.workspace === undefined || task === undefined) return undefined;
  return resultsPlaceOf(shift.workspace, { shift: shift.name, folder: folderOf(shift, task) });
}
