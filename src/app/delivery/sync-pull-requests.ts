import { parse } from 'node:path';
import { RowLabels } from '../../core/model/row-labels.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { openRunLock } from '../../store/folder/run-lock.ts';
import { FolderWorkspaceRecords } from '../../store/folder/workspace-records.ts';
import { readPullRequest } from '../../workspace/delivery/pull-request.ts';
import type { WorkspaceRecord, WorkspaceRecords } from '../../workspace/records.ts';
import { openTable } from '../edit/edit-items.ts';
import { type OpenShift, openAndCheck } from '../open-shift.ts';
import type { World } from '../world.ts';
import { writeDeliveryCells } from './delivery-cells.ts';
import { personProgram } from './person-program.ts';

/** The pull request of one row, as it was known and as it is. */
export interface SyncedRow {
  /** 1-based. */
  readonly row: number;
  readonly label: string | undefined;
  readonly url: string;
  readonly from: string;
  /** Undefined: it could not be read. */
  readonly to: string | undefined;
  readonly reason?: string;
}

/** Reads the state of every pull request of a shift again, and writes it to the records and the table. */
export async function syncPullRequests(
  paths: ShiftPaths,
  { signal, onRow }: { readonly signal: AbortSignal; readonly onRow: (row: SyncedRow) => void },
  world: World,
): Promise<SyncedRow[]> {
  const opened = await openAndCheck(paths);
  const records = new FolderWorkspaceRecords(paths);
  const synced: SyncedRow[] = [];
  for (const { id, ...known } of knownPullRequests(opened, await records.all())) {
    const place = { runProgram: personProgram(world), cwd: parse(paths.folder).root, env: {}, signal };
    const now = await readPullRequest(place, known.url);
    const row = { ...known, ...(now.kind === 'pull-request' ? { to: now.state } : unread(now)) };
    if (row.to !== undefined) {
      await recordState(paths, records, id, row.to);
      await writeDeliveryCells(await openTable(world, paths), id, { pr_state: row.to });
    }
    synced.push(row);
    onRow(row);
  }
  return synced;
}

/** A run writes the records of its rows: while it is active, only the table gets the state. */
async function recordState(
  { runLock }: ShiftPaths,
  records: WorkspaceRecords,
  id: string,
  prState: string,
): Promise<void> {
  using lock = openRunLock(runLock);
  if (lock === undefined) return;
  const record = await records.read(id);
  if (record?.delivery) await records.write({ ...record, delivery: { ...record.delivery, prState } });
}

function unread(failure: Exclude<Awaited<ReturnType<typeof readPullRequest>>, { kind: 'pull-request' }>) {
  const reason =
    failure.kind === 'failed' ? failure.reason : failure.kind === 'trouble' ? failure.trouble.reason : 'interrupted';
  return { to: undefined, reason };
}

interface Known {
  readonly id: string;
  readonly row: number;
  readonly label: string | undefined;
  readonly url: string;
  readonly from: string;
}

/** From the columns `pr_url` and `pr_state`, if the table has them, and from the records of workspaces. */
function knownPullRequests({ shift, snapshot }: OpenShift, records: readonly WorkspaceRecord[]): Known[] {
  const labelOf = RowLabels.in(shift, snapshot);
  const byId = new Map(records.map((record) => [record.id, record]));
  const cell = (row: number, column: string) =>
    snapshot.header.includes(column) ? snapshot.cell(row, column) : undefined;
  return Array.from({ length: snapshot.count }, (_, index) => index).flatMap((index) => {
    const id = snapshot.id(index);
    const record = byId.get(id);
    const url = cell(index, 'pr_url') || record?.delivery?.url;
    if (!url || !/^https?:\/\//.test(url)) return [];
    const from = cell(index, 'pr_state') ?? record?.delivery?.prState ?? '';
    return [{ id, row: index + 1, label: labelOf(index), url, from }];
  });
}
