import { existsSync } from 'node:fs';
import type { Shift } from '../core/model/shift.ts';
import { statusAt } from '../core/schedule/plan.ts';
import { type KeptWorkspaces, keptWorkspaces } from '../core/workspace/kept.ts';
import { findRow } from '../engine/find-row.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { FolderWorkspaceRecords } from '../store/folder/workspace-records.ts';
import type { Snapshot } from '../store/store.ts';
import type { DeliveryRecord, WorkspaceRecord } from '../workspace/records.ts';

/** A line if the shift asked for another kind of workspace when those that exist were made. */
export async function keptWorkspaceLines(paths: ShiftPaths, { workspace }: Shift): Promise<string[]> {
  const records = await new FolderWorkspaceRecords(paths).all();
  const unfinished = records.filter(({ delivery }) => delivery?.state !== 'done');
  const sentence = keptWorkspaces(unfinished, workspace?.kind);
  return sentence === undefined ? [] : [sentence];
}

/** What is left of a shift outside of its folder, as its records have it. */
export async function countKept(paths: ShiftPaths, snapshot: Snapshot): Promise<KeptWorkspaces> {
  const records = await new FolderWorkspaceRecords(paths).all();
  const held = new Set(records.filter((record) => isUndelivered(record) && isOfDoneRow(snapshot, record)));
  // `archive` refuses a shift as long as these are there.
  const kept = records.filter((record) => !held.has(record) && record.state !== 'removed' && existsSync(record.folder));
  return { kept: kept.length, held: held.size };
}

/** Which rows are done and not delivered yet, 0-based. */
export async function listHeldRows(paths: ShiftPaths, snapshot: Snapshot): Promise<number[]> {
  const waiting = (await new FolderWorkspaceRecords(paths).all()).filter(isUndelivered);
  const ids = new Set(waiting.map(({ id }) => id));
  const held: number[] = [];
  for (let row = 0; row < snapshot.count && ids.size > 0; row++) {
    if (ids.delete(snapshot.id(row)) && isRowDone(snapshot, row)) held.push(row);
  }
  return held;
}

export type UndeliveredRecord = WorkspaceRecord & { readonly delivery: DeliveryRecord };

/** If its row is done, it waits for `nightshift deliver`. `intended`: an earlier `deliver` was interrupted. */
export function isUndelivered(record: WorkspaceRecord): record is UndeliveredRecord {
  return record.delivery !== undefined && record.delivery.state !== 'done';
}

function isOfDoneRow(snapshot: Snapshot, { id, row }: WorkspaceRecord): boolean {
  const index = findRow(snapshot, id, row - 1);
  return index !== undefined && isRowDone(snapshot, index);
}

/** A row whose delivery failed in a run is not done. */
export function isRowDone(snapshot: Snapshot, row: number): boolean {
  return snapshot.tasks.every((_, task) => statusAt(snapshot, row, task) === 'done');
}
