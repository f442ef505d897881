import type { Shift } from '../../core/model/shift.ts';
import { keptWorkspaces } from '../../core/workspace/kept.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';

/** A line if the shift asked for another kind of workspace when those that exist were made. */
export async function keptWorkspaceLines(paths: ShiftPaths, { workspace }: Shift): Promise<string[]> {
  const records = await new FolderWorkspaceRecords(paths).all();
  const unfinished = records.filter(({ delivery }) => delivery?.state !== 'done');
  const sentence = keptWorkspaces(unfinished, workspace?.kind);
  return sentence === undefined ? [] : [sentence];
}
