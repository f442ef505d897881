import { resolve } from 'node:path';
import type { Shift, Task } from '../core/model/shift.ts';
import { type AgentAccess, groupAccess } from '../core/workspace/access.ts';

/** What the agents of a run can write, reach and see. */
export function accessIn(shift: Shift): AgentAccess[] {
  return groupAccess(shift.tasks.map((task) => accessOf(shift, task)));
}

function accessOf({ root, workspace }: Shift, { name, hasWorkspace, settings, workingDir }: Task): AgentAccess {
  const { sandbox } = settings;
  if (workspace !== undefined && hasWorkspace) return { tasks: [name], sandbox, workspace: workspace.kind };
  const [only, ...more] = workingDir.segments;
  const isFixed = more.length === 0 && typeof only === 'string';
  return { tasks: [name], sandbox, ...(isFixed && { folder: resolve(root, only) }) };
}
