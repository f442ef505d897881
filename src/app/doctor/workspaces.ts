import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { count } from '../../core/text/count.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import type { OpenShift } from '../open-shift.ts';
import { surroundings } from '../workspaces/list-workspaces.ts';
import { givenIn, type Looking, workspaceProblems, workspacesOf } from '../workspaces/requirements.ts';
import type { World } from '../world.ts';
import type { Finding } from './finding.ts';

type Problem = Omit<Finding, 'shift' | 'level'> & { readonly level?: Finding['level'] };

/** What the workspaces of a shift need, and what is odd about those that exist. */
export async function workspaceFindings(world: World, paths: ShiftPaths, opened: OpenShift): Promise<Finding[]> {
  const { shift, snapshot } = opened;
  const warnings: string[] = [];
  const records = await new FolderWorkspaceRecords(paths, (message) => warnings.push(message)).all();
  if (shift.workspace === undefined && records.length + warnings.length === 0) return [];
  using around = surroundings(world, paths, opened);
  const { git, signal } = around;
  const gone = records.filter(({ state, folder }) => state === 'ready' && !existsSync(folder));
  const parent = workspacesOf(world, shift);
  const known = new Set(records.map(({ folder }) => folder));
  const problems: Problem[] = [
    ...warnings.map((message): Problem => ({ level: 'note', message })),
    ...(shift.workspace === undefined
      ? []
      : await problemsOf({ git, signal, shift, snapshot, environment: givenIn(world) }, parent)),
    ...listed(
      `${count(gone.length, 'workspace')} without a folder: removed by hand`,
      gone.map(({ row, folder }) => `row ${row}: ${folder}`),
      `\`nightshift workspaces ${shift.name} prune\` forgets those that hold nothing to lose`,
    ),
    ...listed(
      `folders in ${parent} that belong to no workspace`,
      foldersIn(parent).filter((folder) => !known.has(folder)),
      'take what you need from them, then remove them',
    ),
  ];
  return problems.map((problem) => ({ level: 'problem', shift: shift.name, ...problem }));
}

async function problemsOf(looking: Looking, parent: string): Promise<Problem[]> {
  return (await workspaceProblems(looking, parent)).map(({ key: _, ...problem }) => problem);
}

function foldersIn(parent: string): string[] {
  if (!existsSync(parent)) return [];
  return readdirSync(parent).map((name) => join(parent, name));
}

/** Worth knowing: nothing stops a run. */
function listed(message: string, details: readonly string[], remedy: string): Problem[] {
  return details.length === 0 ? [] : [{ level: 'note', message, details, remedy }];
}
